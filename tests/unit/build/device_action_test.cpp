#include "build/device_action.hpp"

#include "compile/windows_host.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

Step compile_step(const char* platform, const char* arch) {
  Step step;
  step.kind = StepKind::compile;
  step.id = std::string("compile-") + platform + arch;
  step.module = "m._fused";
  step.inputs = {"{source}/a.cu"};
  step.cells = {platform};
  step.device_argv = {"{nvcc-exe-13.0}", "-ccbin", "{cxx-linux_x86_64}", "-gencode", arch, "-c", "{source}/a.cu"};
  step.argv =
      std::string_view(platform).starts_with("win")
          ? CommandLine{"{cxx-win_amd64}", "-x", "cuda", "-c", "{source}/a.cu", "-o", "{work}/w.o"}
          : CommandLine{
                "{nvcc-exe-13.0}", "-ccbin", "{cxx-linux_x86_64}", "-isystem", "{torch}", "-gencode", arch, "-c",
                "{source}/a.cu",   "-o",     "{work}/l.o"};
  return step;
}

}  // namespace

TEST_CASE("Linux and Windows share the GPU code of a source and architecture") {
  const auto linux = compile_step("linux_x86_64", "arch=compute_80,code=sm_80"),
             windows = compile_step("win_amd64", "arch=compute_80,code=sm_80"),
             other = compile_step("win_amd64", "arch=compute_89,code=sm_89");
  CHECK(is_windows_host(windows));
  CHECK_FALSE(is_windows_host(linux));
  const auto both = device_actions({&linux, &windows}, "linux_x86_64");
  REQUIRE(both.size() == 1);
  CHECK(both[0].users == std::vector<std::size_t>{0, 1});
  CHECK(both[0].step.cells == std::vector<std::string>{"linux_x86_64", "win_amd64"});
  // A proof compares with nvcc's plain way, which is Linux's alone, whoever comes first.
  const auto reversed = device_actions({&windows, &linux}, "linux_x86_64");
  CHECK(reversed[0].step.id == both[0].step.id);
  CHECK(reversed[0].plain == linux.argv);
  CHECK(device_actions({&windows}, "linux_x86_64")[0].plain.empty());
  CHECK(device_actions({&linux, &other}, "linux_x86_64").size() == 2);
}

TEST_CASE(
    "GPU code by itself is expected to take what its row says, else a third of the step with a device-only header") {
  auto step = compile_step("linux_x86_64", "arch=compute_80,code=sm_80");
  step.cost = {100, 900, 0};
  const auto memory = [&] { return device_actions({&step}, "linux_x86_64")[0].step.cost.memory_bytes; };
  CHECK(memory() == 300);
  step.cost.device_memory_bytes = 1700;
  CHECK(memory() == 1700);
  CHECK(step.cost.peak_bytes() == 1700);
  step.cost.device_memory_bytes = 0;
  step.device_argv.clear();
  CHECK(memory() == 900);
}
