#include "fixture.hpp"
#include "plan/argv.hpp"

#include <set>

using namespace sagekit;
using namespace sagekit::test;

namespace {

Request everything() {
  Request request;
  request.profile = "all";
  return request;
}

std::size_t position(const Words& argv, std::string_view word) {
  const auto at = std::ranges::find(argv, word);
  REQUIRE_MESSAGE(at != argv.end(), word);
  return static_cast<std::size_t>(at - argv.begin());
}

Words flags_starting(const Words& argv, std::string_view start) {
  Words found;
  for (const auto& item : argv)
    if (item.starts_with(start)) found.push_back(item);
  return found;
}

}  // namespace

TEST_CASE("a python_free source is compiled once for all Pythons, a binding once for each") {
  const auto plan = plan_of(demo_spec());
  REQUIRE(plan.cells.size() == 2);
  CHECK(step_of(plan, "compile-_a-a1.cu").cells == ids_of(plan));
  CHECK(std::ranges::count(plan.steps, StepKind::compile, &Step::kind) == 2 + 2);  // a1 and a2 shared, b for each
  CHECK(std::ranges::count(plan.steps, StepKind::bind, &Step::kind) == 2);
  CHECK(std::ranges::count(plan.steps, StepKind::link, &Step::kind) == 4);
  CHECK(plan.steps.size() == 10);
  CHECK(plan.unique_steps == 10);
  CHECK(plan.step_uses == 12);
}

TEST_CASE("counts and estimates are the same when the steps are not asked for") {
  const auto full = plan_of(demo_spec(), everything());
  auto request = everything();
  request.with_steps = false;
  const auto light = plan_of(demo_spec(), request);
  CHECK(light.steps.empty());
  CHECK(light.modules.empty());
  CHECK(light.unique_steps == full.steps.size());
  CHECK(light.step_uses == full.step_uses);
  CHECK(light.cpu_seconds == full.cpu_seconds);
  CHECK(light.peak_memory_bytes == full.peak_memory_bytes);
}

TEST_CASE("no two steps have one id, one argv or one output, and each comes after what it needs") {
  const auto plan = plan_of(demo_spec(), everything());
  std::set<std::string> ids, outputs;
  std::set<Words> argvs;
  for (const auto& step : plan.steps) {
    for (const auto& needed : step.depends) CHECK(ids.contains(needed));
    CHECK(ids.insert(step.id).second);
    CHECK(argvs.insert(step.argv).second);
    for (const auto& output : step.outputs) {
      CHECK(outputs.insert(output).second);
      CHECK(output.starts_with("{work}/"));
      CHECK(has(step.argv, output));
    }
  }
  for (const auto& cell : plan.cells)
    for (const auto& id : cell.steps) {
      const auto step = std::ranges::find(plan.steps, id, &Step::id);
      REQUIRE(step != plan.steps.end());
      CHECK(has(step->cells, cell.id));
    }
}

TEST_CASE("the same request gives the same plan") {
  CHECK(plan_json(plan_of(demo_spec(), everything()), true) == plan_json(plan_of(demo_spec(), everything()), true));
}

TEST_CASE("a compile step: compiler, include order, torch's flags before the spec's, one gencode for each arch") {
  const auto plan = plan_of(demo_spec());
  const auto& step = step_of(plan, "compile-_a-a1.cu");
  const auto& argv = step.argv;
  CHECK(argv[0] == "{nvcc-exe-13.0}");
  CHECK(argv[position(argv, "-ccbin") + 1] == "{cxx-linux_x86_64}");
  CHECK(position(argv, "-I{shim-lean}") < position(argv, "-I{source}/csrc/third"));
  CHECK(position(argv, "-I{source}/csrc/third") < position(argv, "{torch-2.11.0-cu130-linux_x86_64}/include"));
  CHECK(has(argv, "{torch-2.11.0-cu130-linux_x86_64}/include/torch/csrc/api/include"));
  CHECK(position(argv, "-D__CUDA_NO_HALF_OPERATORS__") < position(argv, "--use_fast_math"));
  CHECK(has(argv, "-DTORCH_EXTENSION_NAME=_a"));
  CHECK(has(argv, "-DTORCH_API_INCLUDE_EXTENSION_H"));
  CHECK(has(argv, "-std=c++17"));
  CHECK(flags_starting(argv, "arch=") ==
        Words{"arch=compute_80,code=sm_80", "arch=compute_90a,code=sm_90a", "arch=compute_121a,code=sm_121a"});
  CHECK(argv[position(argv, "-c") + 1] == "{source}/csrc/a1.cu");
  CHECK(argv[position(argv, "-o") + 1] == step.outputs[0]);
  CHECK(argv[position(argv, "-MF") + 1] == step.outputs[1]);
  CHECK(step.inputs == Words{"{source}/csrc/a1.cu", "{shim-lean}"});
  CHECK_FALSE(has(argv, "-g"));
  CHECK_FALSE(mentions(argv, "python"));
}

TEST_CASE("ptxas has threads where the row says so, for what takes long, of the CUDA whose ptxas was compared") {
  const auto spec = demo_spec();
  const auto words = [&](bool row, double cpu_seconds, std::string_view cuda) {
    auto kernel = spec.kernels.front();
    kernel.split_compile = row;
    kernel.source_cost.cpu_seconds = cpu_seconds;
    return compile_argv(spec, kernel, "a.cu", {}, {"2.11.0", cuda, "3.11", "linux_x86_64"}, Headers::full);
  };
  const auto with = words(true, 30, "13.0"), without = words(false, 30, "13.0");
  REQUIRE(has(with, "--split-compile=8"));
  CHECK(with[position(with, "--split-compile=8") - 1] == "-Xptxas");
  CHECK_FALSE(mentions(without, "split"));
  CHECK_FALSE(mentions(words(true, 29, "13.0"), "split"));
  CHECK_FALSE(mentions(words(true, 30, "13.2"), "split"));
  CHECK(without_ptxas_threads(with) == without);
  CHECK(without_ptxas_threads(without) == without);
}

TEST_CASE("the fallback has torch's own header, which needs Python's") {
  const auto plan = plan_of(demo_spec());
  const auto& step = step_of(plan, "compile-_a-a1.cu");
  CHECK_FALSE(mentions(step.fallback_argv, "shim"));
  CHECK(has(step.fallback_argv, "{python-includes-3.11-linux_x86_64}"));
  CHECK(step.fallback_argv[position(step.fallback_argv, "-o") + 1] == step.outputs[0]);
  CHECK(step_of(plan, "compile-_b-b.cu").fallback_argv.empty());
  auto spec = demo_spec();
  spec.build.shim_fallback = false;
  CHECK(step_of(plan_of(spec), "compile-_a-a1.cu").fallback_argv.empty());
}

TEST_CASE("a source with bindings of its own sees Python") {
  CHECK(has(step_of(plan_of(demo_spec()), "compile-_b-b.cu").argv, "{python-includes-3.11-linux_x86_64}"));
}

TEST_CASE("a bind step is for one Python and goes to the host compiler") {
  const auto plan = plan_of(demo_spec());
  const auto& step = step_of(plan, "bind-_a-a.cpp");
  CHECK(step.argv[0] == "{cxx-linux_x86_64}");
  CHECK(has(step.argv, "{python-includes-3.11-linux_x86_64}"));
  CHECK(has(step.argv, "{cuda-include-13.0}"));
  CHECK(has(step.argv, "-fPIC"));
  CHECK_FALSE(mentions(step.argv, "gencode"));
  CHECK(step.cells == Words{"demo-pytorch211-cu130-python311"});
}

TEST_CASE("a link step takes the objects, torch's libraries, the CUDA runtime and the spec's, and leaves no path") {
  const auto plan = plan_of(demo_spec());
  const auto& a = step_of(plan, "link-_a");
  CHECK(a.depends.size() == 3);
  CHECK(a.inputs.size() == 3);
  for (const auto& object : a.inputs) CHECK(has(a.argv, object));
  CHECK(a.argv[1] == "-shared");
  CHECK(has(a.argv, "-Wl,-z,now"));
  CHECK(position(a.argv, "-Wl,--as-needed") < position(a.argv, "-lc10"));
  CHECK(position(a.argv, "-ltorch_cpu") < position(a.argv, "-lcudart"));
  CHECK(has(a.argv, "-Wl,-s"));
  CHECK(has(a.argv, "-Wl,--build-id=sha1"));
  CHECK_FALSE(mentions(a.argv, "rpath"));
  CHECK_FALSE(mentions(a.argv, "stub"));
  const auto& b = step_of(plan, "link-_b");
  CHECK(position(b.argv, "-L{stub-cuda-linux_x86_64}") < position(b.argv, "-lcuda"));
}

TEST_CASE("a module's own torch libraries replace the build's") {
  auto spec = demo_spec();
  spec.kernels[0].torch_libraries = {"c10"};
  const auto plan = plan_of(spec);
  CHECK_FALSE(has(step_of(plan, "link-_a").argv, "-ltorch_cpu"));
  CHECK(has(step_of(plan, "link-_b").argv, "-ltorch_cpu"));
}

TEST_CASE("the C++ ABI and standard follow torch") {
  auto spec = demo_spec();
  spec.profiles.clear();
  const auto argv_for = [&](const char* torch, const char* cuda) {
    spec.matrix.include = {{{torch}, {cuda}, {"3.12"}, {"linux_x86_64"}, ""}};
    return step_of(plan_of(spec), "compile-_a-a1.cu").argv;
  };
  CHECK(has(argv_for("2.6.0", "12.4"), "-D_GLIBCXX_USE_CXX11_ABI=0"));
  CHECK(has(argv_for("2.6.0", "12.6"), "-D_GLIBCXX_USE_CXX11_ABI=1"));
  CHECK(has(argv_for("2.7.0", "12.8"), "-D_GLIBCXX_USE_CXX11_ABI=1"));
  CHECK(has(argv_for("2.12.0", "13.0"), "-std=c++17"));
  CHECK(has(argv_for("2.13.0", "13.0"), "-std=c++20"));
}

TEST_CASE("a plain module needs neither torch nor Python nor a CUDA runtime beside it") {
  const auto spec = spec_of(k_head + k_plain_kernels + k_plain_matrix + k_tail);
  const auto plan = plan_of(spec);
  REQUIRE(plan.steps.size() == 2);
  for (const auto& step : plan.steps) {
    CHECK_FALSE(mentions(step.argv, "torch"));
    CHECK_FALSE(mentions(step.argv, "TORCH"));
    CHECK_FALSE(mentions(step.argv, "python"));
  }
  CHECK(has(plan.steps[0].argv, "-std=c++20"));  // the row for any torch
  const auto& link = step_of(plan, "link-_plain");
  CHECK(link.argv[0] == "{cxx-linux_x86_64}");
  CHECK(has(link.argv, "-lcudart_static"));
  CHECK(has(link.argv, "-ldl"));
  CHECK(plan.modules.at(0).archive_path == "pkg/_plain.so");
}

TEST_CASE("two modules share a source that is compiled in the same way") {
  auto spec = spec_of(k_head + k_plain_kernels + k_plain_matrix + k_tail);
  auto second = spec.kernels[0];
  second.module = "pkg._other";
  spec.kernels.push_back(second);
  const auto plan = plan_of(spec);
  CHECK(std::ranges::count(plan.steps, StepKind::compile, &Step::kind) == 1);
  CHECK(std::ranges::count(plan.steps, StepKind::link, &Step::kind) == 2);
  CHECK(plan.step_uses == 3);
}

TEST_CASE("a module is built for its own part of the arches, or not at all") {
  Request request;
  request.arches = "8.0";
  const auto plan = plan_of(demo_spec(), request);
  CHECK(plan.modules.size() == 2);  // _a for two Pythons
  for (const auto& module : plan.modules) CHECK(module.module == "pkg._a");
  request.arches = "8.0;12.0";
  CHECK(flags_starting(step_of(plan_of(demo_spec(), request), "compile-_b-b.cu").argv, "arch=") ==
        Words{"arch=compute_120a,code=sm_120a"});
}

TEST_CASE("modules are named for their Python and platform") {
  const auto plan = plan_of(demo_spec(), everything());
  Words paths;
  for (const auto& module : plan.modules)
    if (module.module == "pkg._a" && module.cell.find("pytorch28-cu128-python312") != std::string::npos)
      paths.push_back(module.archive_path);
  CHECK(paths == Words{"pkg/_a.cpython-312-x86_64-linux-gnu.so", "pkg/_a.cpython-312-aarch64-linux-gnu.so",
                       "pkg/_a.cp312-win_amd64.pyd"});
  CHECK(step_of(plan, "link-_a").outputs[0].starts_with("{work}/lib/_a-"));
}

TEST_CASE("a module with a condition is built where it holds") {
  auto spec = demo_spec();
  spec.kernels[1].when.not_features = {"new"};
  const auto plan = plan_of(spec);
  for (const auto& module : plan.modules) CHECK(module.module == "pkg._a");
}

TEST_CASE("estimates: a source costs less than its arches times one, memory is that of the largest step") {
  Request request;
  request.pythons = {"3.12"};
  request.arches = "9.0";
  const auto one = plan_of(demo_spec(), request);
  CHECK(one.cpu_seconds == doctest::Approx(10 + 10 + 5 + 1 + 40 + 1));
  CHECK(one.peak_memory_bytes == std::uint64_t{2000} << 20);
  request.arches = "8.0;9.0";
  const auto two = plan_of(demo_spec(), request);
  CHECK(two.cpu_seconds == doctest::Approx(17 + 17 + 5 + 1 + 40 + 1));
}

TEST_CASE("the setup-py backend is one step for each cell") {
  auto spec = demo_spec();
  spec.build.setup_py_environment = {"TORCH_CUDA_ARCH_LIST={arch_list}", "X=1"};
  Request request;
  request.backend = Backend::setup_py;
  request.arches = "9.0;12.0";
  const auto plan = plan_of(spec, request);
  REQUIRE(plan.steps.size() == 2);
  const auto& step = plan.steps[0];
  const auto& cell = plan.cells[0].id;
  CHECK(step.id == "setup_py-" + cell);
  CHECK(step.kind == StepKind::setup_py);
  CHECK(step.argv ==
        Words{"{python-exe-3.11-linux_x86_64}", "setup.py", "bdist_wheel", "--dist-dir", "{work}/wheels/" + cell});
  CHECK(step.environment == Words{"CUDA_HOME={nvcc-root-13.0}", "TORCH_CUDA_ARCH_LIST=9.0a;12.0a", "X=1"});
  CHECK(plan.modules.size() == 4);
  CHECK(plan.modules[0].step == step.id);
  CHECK_FALSE(plan.cells[0].buildable);
}

TEST_CASE("a glibc floor puts sagekit's own headers first on every include path for linux, and on no other") {
  auto spec = demo_spec();
  Request everything;
  everything.profile = "all";
  const auto before = plan_of(spec, everything);
  spec.build.glibc_floor = "2.17";
  const auto plan = plan_of(spec, everything);
  REQUIRE(plan.steps.size() == before.steps.size());
  const auto first_include = [](const Words& argv) {
    const auto at = std::ranges::find_if(argv, [](const auto& word) { return word.starts_with("-I"); });
    return at == argv.end() ? std::string() : *at;
  };
  std::size_t floored = 0, windows = 0;
  for (const auto& step : plan.steps) {
    const auto compiles = step.kind != StepKind::link;
    const auto linux = std::ranges::none_of(step.argv, [](const auto& word) { return word.contains("win_amd64"); });
    CAPTURE(step.id);
    CHECK((first_include(step.argv) == "-I{shim-glibc-floor}") == (compiles && linux));
    CHECK((std::ranges::count(step.inputs, "{shim-glibc-floor}") == 1) == (compiles && linux));
    if (!step.fallback_argv.empty())
      CHECK((first_include(step.fallback_argv) == "-I{shim-glibc-floor}") == (compiles && linux));
    floored += compiles && linux ? 1 : 0;
    windows += compiles && !linux ? 1 : 0;
  }
  CHECK(floored > 0);
  CHECK(windows > 0);

  spec.build.glibc_floor = "2.34";  // has what the headers of today's systems ask for
  const auto newer = plan_of(spec, everything);
  CHECK(newer.steps.front().argv == before.steps.front().argv);

  spec.build.glibc_floor = "2.17";
  Request request;
  request.backend = Backend::setup_py;
  const auto theirs = plan_of(spec, request);
  CHECK(std::ranges::count(theirs.steps.front().environment, "CPATH={shim-glibc-floor}") == 1);
}
