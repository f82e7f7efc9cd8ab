// Real compiler output, where there is a compiler.
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
