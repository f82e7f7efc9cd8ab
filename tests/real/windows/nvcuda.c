// Stands in for the driver's nvcuda.dll, which modules with TMA descriptors import one function of.
__declspec(dllexport) int cuTensorMapEncodeTiled(void) { return 1; }  // CUDA_ERROR_INVALID_VALUE
