#include "fixture.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

Cell cell_named(const std::string& naming, const Spec& spec = demo_spec()) {
  Request request;
  request.naming = naming;
  request.pythons = {"3.12"};
  const auto plan = plan_of(spec, request);
  REQUIRE(plan.cells.size() == 1);
  return plan.cells[0];
}

}  // namespace

TEST_CASE("a wheel is named by the scheme asked for, else the spec's, else the default") {
  CHECK(cell_named("").wheel == "demo_pkg-1.2.0+cu130.torch2.11-cp312-cp312-linux_x86_64.whl");
  CHECK(cell_named("default").wheel == "demo_pkg-1.2.0+cu130.torch2.11.20260117.g1111111-cp312-cp312-linux_x86_64.whl");
  auto spec = demo_spec();
  spec.default_scheme.clear();
  CHECK(cell_named("", spec).version == "1.2.0+cu130.torch2.11.20260117.g1111111");
}

TEST_CASE("a build tag is part of the name") {
  const auto cell = cell_named("build-tag");
  CHECK_FALSE(cell.build_tag.empty());
  CHECK(cell.wheel == "demo_pkg-" + cell.version + "-" + cell.build_tag + "-cp312-cp312-linux_x86_64.whl");
}

TEST_CASE("a scheme that says torch's strings says those that the cell is compiled with, or names nothing") {
  CHECK(cell_named("abi-flag").wheel == "demo_pkg-1.2.0+cu13torch2.11cxx11abitrue-cp312-cp312-linux_x86_64.whl");
  // Microsoft's library has one layout: no word is true there.
  auto spec = demo_spec();
  Request request;
  request.naming = "abi-flag-exact";
  request.profile = "all";
  request.platforms = {"win_amd64"};
  const auto windows = error_of(spec, request);
  CHECK(windows.code == "NAM011");
  CHECK(windows.message.find("_GLIBCXX_USE_CXX11_ABI") != std::string::npos);
  // Nor where there is no torch.
  auto plain = spec_of(k_head + k_plain_kernels + k_plain_matrix + k_tail);
  request.profile.clear();
  request.platforms.clear();
  CHECK(error_of(plain, request).code == "NAM011");
}

TEST_CASE("tags and requirements are those of the cell") {
  const auto cell = cell_named("");
  CHECK(cell.distribution == "demo_pkg");
  CHECK(cell.tags == Words{"cp312-cp312-linux_x86_64"});
  CHECK(cell.requires_dist == Words{"torch==2.11.*", "einops"});
}

TEST_CASE("a free-threaded Python has its own tag and id") {
  auto spec = demo_spec();
  spec.profiles.clear();
  spec.matrix.include = {{{"2.11.0"}, {"13.0"}, {"3.13t"}, {"linux_x86_64"}, ""}};
  const auto plan = plan_of(spec);
  REQUIRE(ids_of(plan) == Words{"demo-pytorch211-cu130-python313t"});
  CHECK(plan.cells[0].tags == Words{"cp313-cp313t-linux_x86_64"});
  CHECK(plan.modules.at(0).archive_path == "pkg/_a.cpython-313t-x86_64-linux-gnu.so");
}

TEST_CASE("two cells whose wheels would have one name are refused before anything is compiled") {
  Request request;
  request.profile = "all";
  request.naming = "plain";
  request.platforms = {"linux_x86_64"};
  request.pythons = {"3.12"};
  const auto error = error_of(demo_spec(), request);
  CHECK(error.kind == ErrorKind::usage);
  CHECK(error.code == "PLN012");
  CHECK(error.message.find("demo-pytorch211-cu130-python312") != std::string::npos);
  CHECK(error.message.find("demo-pytorch28-cu128-python312") != std::string::npos);
  CHECK(error.hint.find("--naming own or --naming build-tag") != std::string::npos);
  CHECK(error.hint.find("plain") == std::string::npos);
  CHECK(error.hint.find("--cells") != std::string::npos);
  request.cells = {"*cu130*"};
  CHECK(plan_of(demo_spec(), request).cells.size() == 1);
}

TEST_CASE("cells whose wheel names no Python share it") {
  auto spec = spec_of(k_head + k_plain_kernels + k_plain_matrix + k_tail);
  spec.matrix.include[0].python = {"3.11", "3.12"};
  const auto plan = plan_of(spec);
  REQUIRE(plan.cells.size() == 2);
  CHECK(plan.cells[0].wheel == plan.cells[1].wheel);
  CHECK(plan.cells[0].steps == plan.cells[1].steps);
  spec.matrix.include[0].cuda = {"12.8", "13.0"};
  Request request;
  request.naming = "plain";
  CHECK(error_of(spec, request).code == "PLN012");
  // Without torch some schemes have no name for it; what is advised is taken.
  const auto hint = error_of(spec, request).hint;
  CHECK(hint.find("--naming build-tag") == std::string::npos);
  for (const auto& scheme : builtin_schemes()) {
    if (hint.find("--naming " + scheme.name + " ") == std::string::npos &&
        hint.find("--naming " + scheme.name + ",") == std::string::npos)
      continue;
    request.naming = scheme.name;
    CHECK_MESSAGE(plan_of(spec, request).cells.size() == 4, scheme.name);
  }
}

TEST_CASE("a wheel of another arch set than the default one has another name") {
  const auto version_of = [](const char* naming, const char* arches) {
    Request request;
    request.naming = naming;
    request.pythons = {"3.12"};
    request.arches = arches;
    const auto plan = plan_of(demo_spec(), request);
    REQUIRE(plan.cells.size() == 1);
    return plan.cells[0].version + "|" + plan.cells[0].build_tag;
  };
  CHECK(version_of("default", "") == "1.2.0+cu130.torch2.11.20260117.g1111111|");
  CHECK(version_of("default", "8.0;9.0;12.0;12.1") == version_of("default", ""));
  CHECK(version_of("default", "9.0") == "1.2.0+cu130.torch2.11.20260117.g1111111.sm90a|");
  CHECK(version_of("default", "12.0;8.0+PTX") == "1.2.0+cu130.torch2.11.20260117.g1111111.sm80ptx.sm120a|");
  CHECK(version_of("local-version", "9.0") == "1.2.0+cu130torch2.11.0.sm90a|");
  CHECK(version_of("build-tag", "9.0") == "1.2.0|2110.130.sm90a");
  CHECK(version_of("plain", "9.0") == "1.2.0|");
  CHECK(is_normal_version("1.2.0+cu130.torch2.11.20260117.g1111111.sm80ptx.sm120a"));
}

TEST_CASE("what the machine lacks is said on the cell and is no error") {
  const auto bare = plan_of(demo_spec());
  CHECK_FALSE(bare.cells[0].buildable);
  CHECK(bare.cells[0].why_not.find("nvcc 13.0") != std::string::npos);
  std::vector<LackKind> kinds;
  for (const auto& lack : bare.cells[0].lacks) {
    kinds.push_back(lack.kind);
    CHECK(lack.error.kind == ErrorKind::machine);
    CHECK(lack.error.code.starts_with("TCH"));
    CHECK_FALSE(lack.error.hint.empty());
  }
  CHECK(kinds == std::vector{LackKind::nvcc, LackKind::host_compiler, LackKind::torch, LackKind::python_headers});
  CHECK(bare.cells[0].lacks[0].error.message == bare.cells[0].why_not);
  CHECK(bare.cells[0].toolchain == nullptr);

  const auto equipped = plan_of(demo_spec(), {}, cuda13_machine());
  CHECK_FALSE(equipped.cells[0].buildable);
  CHECK(equipped.cells[0].why_not.find("Python 3.11") != std::string::npos);
  CHECK(equipped.cells[1].buildable);
  CHECK(equipped.cells[1].why_not.empty());
  CHECK(equipped.cells[0].lacks.size() == 1);
  CHECK(equipped.cells[0].lacks[0].kind == LackKind::python_headers);
  CHECK(equipped.cells[0].toolchain == nullptr);
  REQUIRE(equipped.cells[1].toolchain != nullptr);
  const auto& tools = *equipped.cells[1].toolchain;
  const auto machine = cuda13_machine();
  CHECK(tools.nvcc.executable == machine.nvcc.at(0).executable);
  CHECK(tools.host_compiler.executable == machine.host_compilers.at(0).executable);
  CHECK(tools.torch.root == machine.torches.at(0).root);
  CHECK(tools.python.minor == "3.12");
}

TEST_CASE("cells of Windows are planned and not buildable here") {
  Request request;
  request.profile = "all";
  request.platforms = {"win_amd64"};
  const auto plan = plan_of(demo_spec(), request, cuda13_machine());
  REQUIRE(plan.cells.size() == 1);
  CHECK_FALSE(plan.cells[0].buildable);
  REQUIRE(plan.cells[0].lacks.size() == 1);  // no tool would help
  CHECK(plan.cells[0].lacks[0].kind == LackKind::platform);
  CHECK(plan.cells[0].wheel.ends_with("-cp312-cp312-win_amd64.whl"));
}

TEST_CASE("the setup-py backend needs a Python that has the torch") {
  Request request;
  request.backend = Backend::setup_py;
  request.pythons = {"3.12"};
  auto machine = cuda13_machine();
  const auto lacking = plan_of(demo_spec(), request, machine);
  REQUIRE(lacking.cells.at(0).lacks.size() == 1);
  CHECK(lacking.cells[0].lacks[0].kind == LackKind::interpreter);
  CHECK(lacking.cells[0].lacks[0].error.code == "PLN011");
  machine.torches[0].python = "3.12";
  machine.torches[0].interpreter = "/usr/bin/python3.12";
  const auto ready = plan_of(demo_spec(), request, machine);
  REQUIRE(ready.cells.at(0).buildable);
  CHECK(ready.cells[0].toolchain->torch.interpreter == "/usr/bin/python3.12");
}

TEST_CASE("a cell is given what its modules need and nothing else") {
  const auto spec = spec_of(k_head + k_plain_kernels + k_plain_matrix + k_tail);
  const auto plan = plan_of(spec, {}, cuda13_machine());
  REQUIRE(plan.cells.at(0).buildable);
  CHECK(plan.cells[0].toolchain->torch.root.empty());
  CHECK(plan.cells[0].toolchain->python.version.empty());
  CHECK_FALSE(plan.cells[0].toolchain->nvcc.executable.empty());
}

TEST_CASE("the plan says where it came from") {
  const auto plan = make_plan(demo_spec(), {}, bare_machine(), {"/plugins/demo.so", "abc"});
  REQUIRE(plan);
  CHECK(plan->plugin_name == "demo");
  CHECK(plan->plugin_path == "/plugins/demo.so");
  CHECK(plan->plugin_sha256 == "abc");
  CHECK(plan->commit == std::string(40, '1'));
  CHECK(plan->source_url == "https://example.org/demo");
  CHECK(plan->backend == Backend::direct);
}
