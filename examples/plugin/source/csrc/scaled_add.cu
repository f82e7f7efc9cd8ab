// out[i] = x[i] + scale * y[i]
#include "device_buffer.cuh"

namespace {

__global__ void scaled_add_kernel(const float* x, const float* y, float* out, float scale, std::size_t count) {
  const std::size_t stride = std::size_t(gridDim.x) * blockDim.x;
  for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride)
    out[i] = x[i] + scale * y[i];
}

}  // namespace

/// All pointers are host memory of `count` floats. Returns 0 or a cudaError_t.
extern "C" int scaled_add(const float* x, const float* y, float* out, float scale, std::size_t count) {
  if (count == 0) return 0;
  DeviceBuffer device_x, device_y, device_out;
  RETURN_IF_FAILED(device_x.allocate(count));
  RETURN_IF_FAILED(device_y.allocate(count));
  RETURN_IF_FAILED(device_out.allocate(count));
  RETURN_IF_FAILED(device_x.copy_from(x, count));
  RETURN_IF_FAILED(device_y.copy_from(y, count));
  scaled_add_kernel<<<256, 256>>>(device_x.data(), device_y.data(), device_out.data(), scale, count);
  RETURN_IF_FAILED(cudaGetLastError());
  RETURN_IF_FAILED(device_out.copy_to(out, count));
  return 0;
}

/// GPUs that can be used now; 0 without a GPU or a driver.
extern "C" int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

/// What a cudaError_t means.
extern "C" const char* error_text(int status) { return cudaGetErrorString(cudaError_t(status)); }
