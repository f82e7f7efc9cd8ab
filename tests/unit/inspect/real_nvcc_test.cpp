// Real compiler output, where there is a compiler.
#include "gpu/driver_choice.hpp"
#include "support/file.hpp"

#include <sagekit/inspect.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

constexpr const char* k_kernel = R"(
template <int N> __global__ void scale(float* x) { x[threadIdx.x] *= N; }
namespace { __global__ void hidden(int* x) { x[threadIdx.x]++; } }
void run(float* x, int* y) { scale<2><<<1, 32>>>(x); scale<3><<<1, 32>>>(x); hidden<<<1, 1>>>(y); }
)";

constexpr const char* k_fp8_kernels = R"(
__device__ void fp8(float* c, const unsigned* a) {
#if __CUDA_ARCH__ >= 890
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]));
#else
  INSTEAD;
#endif
}
__device__ void half(float* c, const unsigned* a) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]));
}
__device__ void store(float* out, const float* c) {
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = c[i];
}
__global__ void attend(float* out, const unsigned* in) {
  float c[4] = {};
  half(c, in + threadIdx.x);
  c[0] += __shfl_xor_sync(~0u, c[0], 1);
  __syncthreads();
  fp8(c, in + threadIdx.x);
  store(out, c);
}
__global__ void either(float* out, const unsigned* in, int bits) {
  float c[4] = {};
  if (bits == 8) fp8(c, in + threadIdx.x); else half(c, in + threadIdx.x);
  store(out, c);
}
__global__ void checks(float* out, const unsigned* in, int n) {
  float c[4] = {};
  if (n > 100) __trap();
  for (int i = 0; i < n; ++i) half(c, in + i);
  store(out, c);
}
)";

bool nvcc_is_there() { return std::system("nvcc --version > /dev/null 2>&1") == 0; }

bool compile(const fs::path& folder, const std::string& arguments) {
  const std::string command = "cd '" + folder.string() + "' && nvcc " + arguments + " > log 2>&1";
  return std::system(command.c_str()) == 0;
}

}  // namespace

TEST_CASE("what nvcc makes is listed in every compression mode") {
  if (!nvcc_is_there()) {
    MESSAGE("SKIPPED: nvcc is not on PATH, so no real fatbin was read");
    return;
  }
  const auto folder = TemporaryFolder::create(fs::temp_directory_path(), "nvcc");
  REQUIRE(folder);
  REQUIRE(write_file_atomic(folder->path() / "k.cu", k_kernel));
  const std::string arches =
      "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a -gencode "
      "arch=compute_90,code=compute_90";
  InspectOptions options;
  options.kernels = true;
  for (const std::string mode : {"", "--compress-mode=size", "--compress-mode=speed", "--compress-mode=none"}) {
    CAPTURE(mode);
    if (!compile(folder->path(), "-c " + arches + " " + mode + " k.cu -o k.o")) {
      MESSAGE("SKIPPED: this nvcc does not compile with " << mode);
      continue;
    }
    const auto facts = inspect_file(folder->path() / "k.o", options);
    REQUIRE(facts);
    const MemberFacts& object = facts->members.at(0);
    CHECK(object.problems.empty());
    std::map<std::string, const GpuCode*> found;
    for (const GpuCode& code : object.gpu) found[(code.ptx ? "ptx " : "cubin ") + sm_name(code.arch)] = &code;
    CHECK(found.size() == 3);
    for (const char* const wanted : {"cubin sm_80", "cubin sm_90a", "ptx sm_90"}) {
      CAPTURE(wanted);
      REQUIRE(found.contains(wanted));
      CHECK(found[wanted]->kernels == 3);
      CHECK(found[wanted]->names.size() == 3);
      CHECK(found[wanted]->loaded);
      CHECK_FALSE(found[wanted]->toolkit.empty());
    }
    CHECK(found["cubin sm_80"]->names == found["ptx sm_90"]->names);
  }
}

TEST_CASE("bare cubins and PTX from nvcc name their arch") {
  if (!nvcc_is_there()) {
    MESSAGE("SKIPPED: nvcc is not on PATH, so no real cubin was read");
    return;
  }
  const auto folder = TemporaryFolder::create(fs::temp_directory_path(), "nvcc");
  REQUIRE(folder);
  REQUIRE(write_file_atomic(folder->path() / "k.cu", k_kernel));
  for (const std::string arch : {"sm_80", "sm_90a", "sm_120f"}) {
    CAPTURE(arch);
    if (!compile(folder->path(), "-cubin -arch=" + arch + " k.cu -o k.cubin")) {
      MESSAGE("SKIPPED: this nvcc does not know " << arch);
      continue;
    }
    const auto facts = inspect_file(folder->path() / "k.cubin");
    REQUIRE(facts);
    CHECK(facts->kind == "cubin");
    REQUIRE(facts->members.at(0).gpu.size() == 1);
    CHECK(sm_name(facts->members[0].gpu[0].arch) == arch);
  }
}

TEST_CASE("FP8 kernels that nvcc compiled for 8.0 are traps there, and checks that trap are none") {
  if (!nvcc_is_there()) {
    MESSAGE("SKIPPED: nvcc is not on PATH, so no real kernel was judged");
    return;
  }
  const auto folder = TemporaryFolder::create(fs::temp_directory_path(), "nvcc");
  REQUIRE(folder);
  REQUIRE(write_file_atomic(folder->path() / "k.cu", k_fp8_kernels));
  InspectOptions options;
  options.resources = true;
  for (const std::string instead : {"__trap()", "__brkpt()"}) {
    CAPTURE(instead);
    if (!compile(folder->path(),
                 "-c -gencode arch=compute_80,code=sm_80 -gencode arch=compute_89,code=sm_89 '-DINSTEAD=" + instead +
                     "' k.cu -o k.o")) {
      MESSAGE("SKIPPED: this nvcc does not compile FP8 for 8.9");
      return;
    }
    const auto facts = inspect_file(folder->path() / "k.o", options);
    REQUIRE(facts);
    const KernelBodies bodies(facts->members.at(0).gpu);
    const auto old = bodies.loaded_on({8, 6});
    CHECK(old.kernels == 3);
    CHECK(old.traps == 1);      // every path multiplies FP8
    CHECK(old.part_trap == 1);  // one of two does
    CHECK_FALSE(bodies.loaded_on({8, 9}).any());
  }
}
