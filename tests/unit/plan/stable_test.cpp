#include "fixture.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

/// A matrix row for every torch from 2.9 on and every Python from 3.10 on, beside one for one torch and one Python.
Spec ranged_spec() {
  auto spec = demo_spec();
  spec.profiles.clear();
  spec.matrix.exclude.clear();
  spec.matrix.stable_headers = "2.11.0";
  spec.matrix.include = {{{">=2.9,stable"}, {"13.0"}, {"abi3>=3.10"}, {"linux_x86_64", "linux_aarch64"}, "us"},
                         {{"2.11.0"}, {"13.0"}, {"3.12"}, {"linux_x86_64"}, "us"}};
  spec.schemes = {{"own", "{version}+cu{cuda_digits}.torch{torch_minor}.torch{torch_min}andhigher"}};
  spec.metadata.requires_dist = {"torch=={torch_minor}.*", "torch>={torch_min}", "einops"};
  return spec;
}

const Cell& ranged(const Plan& plan) {
  const auto found = std::ranges::find(plan.cells, "demo-pytorch29stable-cu130-python310abi3", &Cell::id);
  REQUIRE(found != plan.cells.end());
  return *found;
}

const Step& step_of(const Plan& plan, StepKind kind, const Cell& cell) {
  const auto found = std::ranges::find_if(plan.steps, [&](const Step& step) {
    return step.kind == kind && step.module == "pkg._a" && std::ranges::count(step.cells, cell.id) > 0;
  });
  REQUIRE(found != plan.steps.end());
  return *found;
}

bool has(const Step& step, std::string_view item) { return std::ranges::count(step.argv, item) > 0; }

}  // namespace

TEST_CASE("a cell for every torch and Python has its own id, name, tag and requirement") {
  const auto plan = plan_of(ranged_spec());
  CHECK(ids_of(plan) == Words{"demo-pytorch211-cu130-python312", "demo-pytorch29stable-cu130-python310abi3"});
  const auto& cell = ranged(plan);
  CHECK(cell.wheel == "demo_pkg-1.2.0+cu130.torch2.9andhigher-cp310-abi3-linux_x86_64.whl");
  CHECK(cell.tags == Words{"cp310-abi3-linux_x86_64"});
  CHECK(cell.requires_dist == Words{"torch>=2.9", "einops"});
  CHECK(cell.torch_min == "2.9");
  CHECK(cell.abi3);
  CHECK(plan.cells[0].requires_dist == Words{"torch==2.11.*", "einops"});
  CHECK(plan.cells[0].wheel == "demo_pkg-1.2.0+cu130.torch2.11-cp312-cp312-linux_x86_64.whl");
}

TEST_CASE("it is compiled for the least torch and Python, with the headers that the matrix names") {
  const auto plan = plan_of(ranged_spec());
  const auto& cell = ranged(plan);
  CHECK(cell.torch == "2.11.0");
  CHECK(cell.python == "3.10");
  const auto& compile = step_of(plan, StepKind::compile, cell);
  CHECK(has(compile, "-DTORCH_STABLE_ONLY"));
  CHECK(has(compile, "-DTORCH_TARGET_VERSION=0x0209000000000000"));
  CHECK(has(compile, "{torch-2.11.0-cu130-linux_x86_64}/include"));
  CHECK_FALSE(has(compile, "-DPy_LIMITED_API=0x030A0000"));  // it sees no Python
  const auto& bind = step_of(plan, StepKind::bind, cell);
  CHECK(has(bind, "-DPy_LIMITED_API=0x030A0000"));
  CHECK(has(bind, "{python-includes-3.10-linux_x86_64}"));
  CHECK_FALSE(has(step_of(plan, StepKind::bind, plan.cells[0]), "-DTORCH_STABLE_ONLY"));
  CHECK_FALSE(has(step_of(plan, StepKind::bind, plan.cells[0]), "-DPy_LIMITED_API=0x030A0000"));
}

TEST_CASE("its modules have the suffix that every Python looks for") {
  const auto plan = plan_of(ranged_spec());
  const auto module = std::ranges::find(plan.modules, ranged(plan).id, &PlannedModule::cell);
  REQUIRE(module != plan.modules.end());
  CHECK(module->archive_path == "pkg/_a.abi3.so");
}

TEST_CASE("narrowing to a torch or Python finds the cell that serves it") {
  const auto ids = [](const Words& torches, const Words& pythons) {
    Request request;
    request.torches = torches;
    request.pythons = pythons;
    request.platforms = {"linux_x86_64"};
    return ids_of(plan_of(ranged_spec(), request));
  };
  const Words stable{"demo-pytorch29stable-cu130-python310abi3"};
  CHECK(ids({"2.13"}, {}) == stable);
  CHECK(ids({"2.9"}, {}) == stable);
  CHECK(ids({}, {"3.14"}) == stable);
  CHECK(ids({"2.11"}, {"3.12"}) == Words{"demo-pytorch211-cu130-python312", stable[0]});
  Request request;
  request.pythons = {"3.13t"};  // the limited API is not for free-threaded Pythons
  CHECK(error_of(ranged_spec(), request).code == "PLN004");
  request.pythons = {"3.9"};
  CHECK(error_of(ranged_spec(), request).code == "PLN004");
  request.pythons.clear();
  request.torches = {"2.8"};
  CHECK(error_of(ranged_spec(), request).code == "PLN004");
}

TEST_CASE("the limited API takes a newer Python's headers where the least is not here") {
  auto environment = cuda13_machine();
  REQUIRE(environment.pythons.size() == 1);
  const auto plan = plan_of(ranged_spec(), {}, environment);
  REQUIRE(ranged(plan).buildable);
  CHECK(ranged(plan).toolchain->python.abi == "cp312");
  environment.pythons[0].abi = "cp313t";
  environment.pythons[0].minor = "3.13";
  const auto lacking = plan_of(ranged_spec(), {}, environment);
  CHECK_FALSE(ranged(lacking).buildable);
}

TEST_CASE("for Windows clang makes the host code around Linux's GPU code, and mingw links against Windows' libraries") {
  auto spec = ranged_spec();
  spec.matrix.include.front().platform = {"linux_x86_64", "win_amd64"};
  spec.build.nvcc_flags = {"-O3", "--use_fast_math", "-DUSE_CUDA=1", "-diag-suppress=174"};
  for (auto& kernel : spec.kernels) {
    kernel.device_shim = "device";
    kernel.libraries = {"cuda"};
  }
  Request request;
  request.platforms = {"linux_x86_64", "win_amd64"};
  const auto plan = plan_of(spec, request);
  const auto windows = std::ranges::find(plan.cells, "demo-pytorch29stable-cu130-python310abi3-win_amd64", &Cell::id);
  REQUIRE(windows != plan.cells.end());
  const auto& compile = step_of(plan, StepKind::compile, *windows);
  CHECK(compile.argv.front() == "{cxx-win_amd64}");
  for (const auto* item : {"--target=x86_64-w64-windows-gnu", "--cuda-host-only", "{mingw-includes-win_amd64}", "-O3",
                           "{shim-sagekit-windows}/cuda_host.h", "{shim-sagekit-windows}/torch_wall.h", "-DUSE_CUDA=1",
                           "-DTORCH_STABLE_ONLY", "-D__CUDACC_VER_MAJOR__=13"})
    CHECK_MESSAGE(has(compile, item), item);
  for (const auto* item : {"--use_fast_math", "-diag-suppress=174", "-gencode", "-ccbin"})
    CHECK_FALSE(has(compile, item));
  CHECK(compile.device_argv == step_of(plan, StepKind::compile, ranged(plan)).device_argv);
  CHECK(has(step_of(plan, StepKind::bind, *windows), "{shim-sagekit-windows}/torch_wall.h"));
  CHECK_FALSE(has(step_of(plan, StepKind::bind, *windows), "-fPIC"));
  const auto& link = step_of(plan, StepKind::link, *windows);
  CHECK(link.argv.front() == "{mingw-win_amd64}");
  for (const auto* item :
       {"-lcudart64_13", "-lpython3", "-lnvcuda", "-L{stub-cuda-win_amd64}", "-L{stub-python-3.10-win_amd64}",
        "-L{torch-2.11.0-cu130-win_amd64}/lib", "-static-libstdc++", "-Wl,--no-insert-timestamp",
        "-Wl,--dynamicbase,--high-entropy-va,--nxcompat"})
    CHECK_MESSAGE(has(link, item), item);
  CHECK(link.outputs.front().ends_with(".pyd"));
}

TEST_CASE("with Microsoft's headers clang compiles for their target, behind no wall, and lld links") {
  auto spec = ranged_spec();
  spec.matrix.include.front().platform = {"win_amd64"};
  for (auto& kernel : spec.kernels) {
    kernel.device_shim = "device";
    kernel.libraries = {"cuda"};
  }
  Request request;
  request.platforms = {"win_amd64"};
  auto environment = cuda13_machine();
  HostCompiler microsoft;
  microsoft.kind = CompilerKind::msvc;
  environment.host_compilers.push_back(microsoft);
  const auto mingw = plan_of(spec, request, environment);
  CHECK(step_of(mingw, StepKind::link, mingw.cells.front()).argv.front() == "{mingw-win_amd64}");
  environment.host_compilers.back().ready = true;
  const auto plan = plan_of(spec, request, environment);
  const auto& cell = plan.cells.front();
  for (const auto kind : {StepKind::compile, StepKind::bind}) {
    const auto& step = step_of(plan, kind, cell);
    CHECK(has(step, "--target=x86_64-pc-windows-msvc"));
    CHECK(has(step, "{msvc-includes-win_amd64}"));
    CHECK_FALSE(has(step, "{shim-sagekit-windows}/torch_wall.h"));
  }
  CHECK(step_of(plan, StepKind::compile, cell).device_argv ==
        step_of(mingw, StepKind::compile, mingw.cells.front()).device_argv);
  const auto& link = step_of(plan, StepKind::link, cell);
  CHECK(link.argv.front() == "{cxx-win_amd64}");
  for (const auto* item : {"-B{msvc-linker-win_amd64}", "{msvc-libraries-win_amd64}", "-lcudart64_13", "-lnvcuda",
                           "-L{msvc-imports-2.11.0-cu130-3.10-win_amd64}", "-lpython3", "-nostdlib"})
    CHECK_MESSAGE(has(link, item), item);
}

TEST_CASE("host code for Windows with other GPU code is another step") {
  auto spec = ranged_spec();
  spec.matrix.include.front().platform = {"win_amd64"};
  for (auto& kernel : spec.kernels) kernel.device_shim = "device";
  const auto step_for = [&](const char* arch) {
    Request request;
    request.arches = arch;
    request.platforms = {"win_amd64"};
    const auto plan = plan_of(spec, request);
    REQUIRE_FALSE(plan.cells.empty());
    return step_of(plan, StepKind::compile, plan.cells.front());
  };
  const auto one = step_for("8.0"), other = step_for("9.0");
  CHECK(one.id != other.id);
  CHECK(one.outputs != other.outputs);
}
