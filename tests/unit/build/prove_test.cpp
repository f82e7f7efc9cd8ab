// What --prove says where there is nothing to compare with: GPU code that only modules for Windows use.
#include "fake_halves.hpp"

#include <doctest/doctest.h>

using namespace sagekit;
using namespace sagekit::test;

namespace {

/// One source for Windows, its host's code by a clang that makes nothing; for this machine too when `beside`.
struct Twin : Halves {
  explicit Twin(bool beside) {
    steps({"80", "90"}, {"x86_64"}, true);
    auto step = plan.steps.front();
    auto cell = plan.cells.front();
    if (!beside) plan.steps.clear(), plan.cells.clear();
    cell.id = "fake-windows";
    cell.platform = "win_amd64";
    step.id = "compile-windows";
    step.argv = {"{cxx-win_amd64}",    "-x", "cuda",          "--cuda-host-only", "-c",
                 "{source}/csrc/a.cu", "-o", "{work}/obj/w.o"};
    step.outputs = {"{work}/obj/w.o"};
    step.cells = {cell.id};
    cell.steps = {step.id};
    plan.steps.push_back(step);
    plan.cells.push_back(cell);
    options.prove = BuildOptions::Prove::all;
    options.keep_going = true;
    equip();
    ToolchainNeed need;
    need.cuda = "13.0";
    need.platform = "linux_x86_64";
    auto tools = *choose_toolchain(need, environment);
    tools.device_compiler = tools.host_compiler;
    tools.host_compiler.kind = CompilerKind::clang;
    tools.host_compiler.executable = "/usr/bin/clang++-19";
    plan.cells.back().toolchain = std::make_shared<const Toolchain>(std::move(tools));
    static_cast<void>(run_build(spec, plan, environment, options, runner, watcher));
  }
  auto said(std::string_view words) const {
    return std::ranges::count_if(watcher.reasons, [&](const auto& reason) { return reason.contains(words); });
  }
};

}  // namespace

TEST_CASE("--prove says once that GPU code for Windows alone is not compared, and what would compare it") {
  const Twin alone(false);
  CHECK(std::ranges::count(alone.log, "cicc 80") == 1);
  CHECK(std::ranges::count(alone.log, "cicc 90") == 1);
  CHECK(alone.said("its GPU code is not compared with nvcc's own: only modules for Windows use it; with --platform "
                   "linux_x86_64 beside it, it is") == 1);
}

TEST_CASE("--prove compares the GPU code of a module for Windows where one for Linux has the same") {
  const Twin both(true);
  CHECK(both.said("is not compared") == 0);
  // Made with the shim, and again with torch's own headers; what stands for machine code here is none, and so refused.
  CHECK(std::ranges::count(both.log, "cicc 80") == 2);
  CHECK(std::ranges::count(both.log, "cicc 90") == 2);
  CHECK(both.said("its GPU code is not what nvcc makes with torch's own headers") == 2);
}

TEST_CASE("--prove sample compares every architecture for which ptxas has threads with what it makes without them") {
  for (const bool threads : {false, true}) {
    Halves halves;
    if (threads) halves.flags = {"-Xptxas", "--split-compile=8"};
    halves.steps({"80", "90"}, {"x86_64"}, true);
    halves.options.prove = BuildOptions::Prove::sample;
    halves.options.keep_going = true;
    static_cast<void>(halves.build(halves.runner));
    const auto ran = [&](std::string_view what) { return std::ranges::count(halves.log, what); };
    CHECK(ran("ptxas 80, 8 threads") == (threads ? 1 : 0));
    CHECK(ran("ptxas 90, 8 threads") == (threads ? 1 : 0));
    CHECK(ran("ptxas 80") == (threads ? 1 : 2));
    CHECK(ran("ptxas 90") == 1);
  }
}
