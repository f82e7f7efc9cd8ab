// Softmax of each row of a matrix: one block a row at a time, maximum and sum by shuffles.
#include "device_buffer.cuh"

namespace {

constexpr int k_threads = 256;
constexpr int k_warps = k_threads / 32;

struct Maximum {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

/// Combines one value of each thread of the block; every thread gets the result.
template <class Combine>
__device__ float over_block(float value, Combine combine) {
  __shared__ float of_warp[k_warps];
  for (int offset = 16; offset > 0; offset /= 2) value = combine(value, __shfl_xor_sync(0xffffffffu, value, offset));
  __syncthreads();  // the last call's readers are done
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  float all = of_warp[0];
  for (int warp = 1; warp < k_warps; ++warp) all = combine(all, of_warp[warp]);
  return all;
}

__global__ void row_softmax_kernel(const float* in, float* out, std::size_t rows, std::size_t columns) {
  for (std::size_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* const from = in + row * columns;
    float* const to = out + row * columns;
    float greatest = -INFINITY;
    for (std::size_t i = threadIdx.x; i < columns; i += k_threads) greatest = fmaxf(greatest, from[i]);
    greatest = over_block(greatest, Maximum());
    float sum = 0;
    for (std::size_t i = threadIdx.x; i < columns; i += k_threads) sum += expf(from[i] - greatest);
    sum = over_block(sum, Sum());
    for (std::size_t i = threadIdx.x; i < columns; i += k_threads) to[i] = expf(from[i] - greatest) / sum;
  }
}

}  // namespace

/// `in` and `out` are host memory of rows * columns floats, row after row. Returns 0 or a cudaError_t.
extern "C" int row_softmax(const float* in, float* out, std::size_t rows, std::size_t columns) {
  const std::size_t count = rows * columns;
  if (count == 0) return 0;
  DeviceBuffer device_in, device_out;
  RETURN_IF_FAILED(device_in.allocate(count));
  RETURN_IF_FAILED(device_out.allocate(count));
  RETURN_IF_FAILED(device_in.copy_from(in, count));
  row_softmax_kernel<<<256, k_threads>>>(device_in.data(), device_out.data(), rows, columns);
  RETURN_IF_FAILED(cudaGetLastError());
  RETURN_IF_FAILED(device_out.copy_to(out, count));
  return 0;
}
