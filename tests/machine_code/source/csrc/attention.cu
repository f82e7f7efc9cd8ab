// Kernels of the shapes that attention has, for tests/cli/machine_code_test.py: many instances of a few templates with large
// unrolled bodies, device functions that several of them call, inline and not, memory that they share. Enough that a compiler
// which takes a unit apart has something to take apart, and little enough to be compiled for several architectures in a test.
#include <guard_api.h>
#include "tile.cuh"

namespace guard {

__constant__ float k_slopes[64];
__device__ unsigned int overflows;

/// Called and not inlined: where a unit is split, a call may cross from one part to another.
template <int Columns>
__device__ __noinline__ float row_maximum(const float (&tile)[Columns], float known) {
  float most = known;
#pragma unroll
  for (int i = 0; i < Columns; ++i) most = fmaxf(most, tile[i]);
  for (int lane = 16; lane > 0; lane /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, lane));
  return most;
}

template <class Element, int HeadDim, int Keys, bool Causal, bool Biased>
__global__ void __launch_bounds__(128) attend(const Arguments arguments) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* const keys = reinterpret_cast<Element*>(memory);
  auto* const values = keys + Keys * HeadDim;
  const int head = blockIdx.y, row = blockIdx.x * blockDim.x + threadIdx.x;
  Tile<Element, HeadDim> query(arguments.query, arguments.strides, head, min(row, arguments.rows - 1));
  float sum[HeadDim] = {}, total = 0.f, most = -1e30f;
  const int last = Causal ? min(arguments.columns, int((blockIdx.x + 1) * blockDim.x)) : arguments.columns;
  for (int first = 0; first < last; first += Keys) {
    __syncthreads();
    load_tile<Element, HeadDim, Keys>(keys, arguments.key, arguments.strides, head, first, arguments.columns);
    load_tile<Element, HeadDim, Keys>(values, arguments.value, arguments.strides, head, first, arguments.columns);
    __syncthreads();
    float score[Keys];
#pragma unroll
    for (int key = 0; key < Keys; ++key) {
      score[key] = query.dot(keys + key * HeadDim) * arguments.scale;
      if (Biased) score[key] += k_slopes[head & 63] * float(first + key - row);
      if (first + key >= last || (Causal && first + key > row)) score[key] = -1e30f;
    }
    const float now = row_maximum<Keys>(score, most);
    const float shrink = exp2f(most - now);
    total *= shrink;
#pragma unroll
    for (int i = 0; i < HeadDim; ++i) sum[i] *= shrink;
#pragma unroll
    for (int key = 0; key < Keys; ++key) {
      const float weight = exp2f(score[key] - now);
      total += weight;
      accumulate<Element, HeadDim>(sum, values + key * HeadDim, weight);
    }
    most = now;
  }
  if (row >= arguments.rows) return;
  if (!(total > 0.f)) atomicAdd(&overflows, 1u);
  store_row<Element, HeadDim>(arguments.out, arguments.strides, head, row, sum, 1.f / total);
}

/// Per block: the largest absolute value, then the rounded quotients.
template <class Element, int HeadDim, int Rows>
__global__ void quantize(const Arguments arguments, signed char* out, float* scales) {
  __shared__ float of_warp[32];
  const int head = blockIdx.y, first = blockIdx.x * Rows;
  float most = 1e-7f;
  for (int i = threadIdx.x; i < Rows * HeadDim; i += blockDim.x)
    most = fmaxf(most, fabsf(element(arguments.query, arguments.strides, head, first + i / HeadDim, i % HeadDim)));
  float lane[1] = {most};
  most = row_maximum<1>(lane, most);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = most;
  __syncthreads();
  for (int warp = 0; warp < int(blockDim.x) / 32; ++warp) most = fmaxf(most, of_warp[warp]);
  const float scale = most / 127.f;
  if (threadIdx.x == 0) scales[blockIdx.x * gridDim.y + head] = scale;
  for (int i = threadIdx.x; i < Rows * HeadDim; i += blockDim.x)
    out[(first + i / HeadDim) * HeadDim + i % HeadDim] =
        round_to_int8(element(arguments.query, arguments.strides, head, first + i / HeadDim, i % HeadDim) / scale);
}

namespace {

/// Its name has the unit's module id in it.
__global__ void clear_overflows() { overflows = 0; }

template <class Element, int HeadDim, bool Causal>
int launch(const Arguments& arguments, signed char* quantized, float* scales, bool biased) {
  constexpr int k_keys = HeadDim > 16 ? 4 : 8;
  const dim3 grid((arguments.rows + 127) / 128, arguments.heads);
  const std::size_t bytes = 2 * k_keys * HeadDim * sizeof(Element);
  clear_overflows<<<1, 1>>>();
  quantize<Element, HeadDim, 64><<<grid, 256>>>(arguments, quantized, scales);
  if (biased)
    attend<Element, HeadDim, k_keys, Causal, true><<<grid, 128, bytes>>>(arguments);
  else
    attend<Element, HeadDim, k_keys, Causal, false><<<grid, 128, bytes>>>(arguments);
  return int(cudaGetLastError());
}

}  // namespace
}  // namespace guard

extern "C" int guard_attention(const guard::Arguments* arguments, int head_dim, int causal, int biased, signed char* quantized, float* scales) {
  using namespace guard;
  if (head_dim == 16)
    return causal ? launch<__half, 16, true>(*arguments, quantized, scales, biased != 0)
                  : launch<__half, 16, false>(*arguments, quantized, scales, biased != 0);
  return causal ? launch<float, 32, true>(*arguments, quantized, scales, biased != 0)
                : launch<float, 32, false>(*arguments, quantized, scales, biased != 0);
}
