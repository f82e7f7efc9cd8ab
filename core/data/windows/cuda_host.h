// Before every .cu whose host code clang compiles for Windows with mingw's headers, or Microsoft's; nvcc makes its GPU code on
// Linux.
//
// Device functions are parsed here and thrown away, so they need names and no bodies. Three things stand between CUDA's
// headers and this pair of compiler and C library, and are answered here:
// - crt/host_config.h refuses every compiler for Windows but Microsoft's: its guard is taken.
// - CUDA's math headers redeclare the C library's functions in ways that only nvcc allows: their guards are taken, and
//   the C library's own functions are declared for both sides, which is what device code calls.
// - CUDA's C++ library wants two functions of C11 that mingw's older C libraries have not. Nothing calls them.
//
// Tried with clang 19, mingw-w64 10 with GCC 12, CUDA 13.0 (docs/windows.md).
#pragma once

// libstdc++'s math.h includes all of <cmath>; the C library's own is meant.
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <stdlib.h>
#pragma clang force_cuda_host_device begin
#include <math.h>
template <class A, class B>
constexpr auto max(A a, B b) {
  return a < b ? b : a;
}
template <class A, class B>
constexpr auto min(A a, B b) {
  return b < a ? b : a;
}
#pragma clang force_cuda_host_device end
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <new>
#include <utility>

#ifndef _MSC_VER
extern "C" {
void* aligned_alloc(std::size_t, std::size_t);
int timespec_get(struct timespec*, int);
}
#endif

// What nvcc says of itself; the command line has the rest.
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_BUILD__ 0

#define __HOST_CONFIG_H__
#define __MATH_FUNCTIONS_H__
#define __MATH_FUNCTIONS_HPP__
#define __COMMON_FUNCTIONS_H__
#define __THROW
#include "cuda_runtime.h"
