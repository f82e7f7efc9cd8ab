// Rows of a matrix in registers and in shared memory.
#pragma once

#include "arguments.h"

#include <cuda_fp16.h>

namespace guard {

__device__ inline float as_float(float value) { return value; }
__device__ inline float as_float(__half value) { return __half2float(value); }

__device__ inline float element(const void* from, const Strides& strides, int head, int row, int column) {
  return static_cast<const float*>(from)[head * strides.head + row * strides.row + column];
}

__device__ inline signed char round_to_int8(float value) {
  int rounded;
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(rounded) : "f"(value));
  return static_cast<signed char>(rounded);
}

template <class Element, int HeadDim>
struct Tile {
  float part[HeadDim];

  __device__ Tile(const void* from, const Strides& strides, int head, int row) {
    const auto* const at = static_cast<const Element*>(from) + head * strides.head + row * strides.row;
#pragma unroll
    for (int i = 0; i < HeadDim; ++i) part[i] = as_float(at[i]);
  }
  __device__ float dot(const Element* other) const {
    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < HeadDim; ++i) sum = fmaf(part[i], as_float(other[i]), sum);
    return sum;
  }
};

template <class Element, int HeadDim, int Rows>
__device__ void load_tile(Element* to, const void* from, const Strides& strides, int head, int first, int rows) {
  for (int i = threadIdx.x; i < Rows * HeadDim; i += blockDim.x) {
    const int row = min(first + i / HeadDim, rows - 1);
    to[i] = static_cast<const Element*>(from)[head * strides.head + row * strides.row + i % HeadDim];
  }
}

template <class Element, int HeadDim>
__device__ void accumulate(float (&sum)[HeadDim], const Element* row, float weight) {
#pragma unroll
  for (int i = 0; i < HeadDim; ++i) sum[i] = fmaf(weight, as_float(row[i]), sum[i]);
}

template <class Element, int HeadDim>
__device__ void store_row(void* to, const Strides& strides, int head, int row, const float (&sum)[HeadDim], float factor) {
  auto* const at = static_cast<Element*>(to) + head * strides.head + row * strides.row;
#pragma unroll
  for (int i = 0; i < HeadDim; ++i) at[i] = Element(sum[i] * factor);
}

}  // namespace guard
