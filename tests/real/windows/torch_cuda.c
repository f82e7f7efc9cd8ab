// Stands in for torch_cuda.dll: the index has no CUDA build of torch for Windows.
#include <stdint.h>

static int g_asked;

__declspec(dllexport) int streams_asked(void) { return g_asked; }

// torch/csrc/inductor/aoti_torch/c/shim.h. The stream is told from the default one, so that a launch shows whose it got.
__declspec(dllexport) int32_t aoti_torch_get_current_cuda_stream(int32_t device, void** stream) {
  ++g_asked;
  *stream = (void*)(intptr_t)(0x57a0 + device);
  return 0;
}
