#include "fixture.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

Request asking(std::string arches) {
  Request request;
  request.arches = std::move(arches);
  return request;
}

/// The one cell of the default profile for Python 3.12.
Cell cell_for(const Request& asked, const Spec& spec = demo_spec()) {
  auto request = asked;
  request.pythons = {"3.12"};
  const auto plan = plan_of(spec, request);
  REQUIRE(plan.cells.size() == 1);
  return plan.cells[0];
}

}  // namespace

TEST_CASE("the default set is every arch that is not excluded, not on request and possible") {
  const auto cell = cell_for({});
  CHECK(arches_of(cell) == Words{"8.0", "9.0a", "12.0a", "12.1a"});
  CHECK(cell.id == "demo-pytorch211-cu130-python312");
  CHECK(has(cell.notes, "9.0: needs a new driver"));
  CHECK(has(cell.notes, "12.1 needs a new Triton"));
}

TEST_CASE("an arch that the cell's nvcc cannot make is left out of a default set with a note") {
  Request request;
  request.profile = "all";
  request.cells = {"demo-pytorch28-cu128-python312"};
  const auto plan = plan_of(demo_spec(), request);
  CHECK(arches_of(plan.cells.at(0)) == Words{"8.0", "9.0a", "12.0a"});
  CHECK(mentions(plan.cells[0].notes, "left out: 12.1"));
}

TEST_CASE("an arch that the revision cannot make is left out of a default set with a note") {
  Request request;
  request.revision = "v1.1.0";
  request.allowed_defects = {"wrong-on-90"};
  const auto cell = cell_for(request);
  CHECK(arches_of(cell) == Words{"8.0", "9.0a", "12.0a"});
  CHECK(mentions(cell.notes, "left out: 12.1: source revision 2222222 cannot"));
}

TEST_CASE("a capability with rows for several revisions is not called left out when one of them serves") {
  auto spec = demo_spec();
  auto old = spec.arches[0];
  old.when.features = {"old"};
  old.gencode = {{{{8, 0}, ArchSuffix::none}, {{8, 0}, ArchSuffix::none}, true}};
  spec.arches[0].when.not_features = {"old"};
  spec.arches.insert(spec.arches.begin(), old);
  const auto cell = cell_for({}, spec);
  CHECK(arches_of(cell) == Words{"8.0", "9.0a", "12.0a", "12.1a"});
  CHECK_FALSE(mentions(cell.notes, "left out"));
}

TEST_CASE("arches asked for without a suffix get the spec's code, and the set is in the id") {
  const auto cell = cell_for(asking("90;8.0"));
  CHECK(arches_of(cell) == Words{"8.0", "9.0a"});
  CHECK(cell.id == "demo-pytorch211-cu130-python312-sm80-sm90a");
  CHECK(cell_for(asking("9.0a;9.0")).id == "demo-pytorch211-cu130-python312-sm90a");
}

TEST_CASE("asking for the default set gives the default id") {
  CHECK(cell_for(asking("8.0 9.0 12.0 12.1")).id == "demo-pytorch211-cu130-python312");
}

TEST_CASE("a suffix is taken literally") {
  const auto cell = cell_for(asking("12.0f"));
  CHECK(arches_of(cell) == Words{"12.0f"});
  REQUIRE(cell.gencode.size() == 1);
  CHECK(to_string(cell.gencode[0]) == "arch=compute_120f,code=sm_120f");
  CHECK(cell.id == "demo-pytorch211-cu130-python312-sm120f");
}

TEST_CASE("a suffix that no nvcc knows is a usage error") {
  const auto error = error_of(demo_spec(), asking("8.0a"));
  CHECK(error.code == "PLN006");
  CHECK(error.message.find("8.0a") != std::string::npos);
}

TEST_CASE("the profile's arches hold unless the flag says otherwise") {
  Request request;
  request.profile = "hopper";
  CHECK(arches_of(plan_of(demo_spec(), request).cells.at(0)) == Words{"9.0a"});
  request.arches = "8.0";
  CHECK(arches_of(plan_of(demo_spec(), request).cells.at(0)) == Words{"8.0"});
}

TEST_CASE("an arch that the spec does not have is a usage error with the nearest") {
  const auto error = error_of(demo_spec(), asking("9.1"));
  CHECK(error.kind == ErrorKind::usage);
  CHECK(error.code == "PLN006");
  CHECK(error.hint.find("9.0") != std::string::npos);
}

TEST_CASE("an excluded arch is a usage error with its reason and source") {
  const auto error = error_of(demo_spec(), asking("10.0"));
  CHECK(error.kind == ErrorKind::usage);
  CHECK(error.code == "PLN007");
  CHECK(error.message.find("the code refuses it (core.py)") != std::string::npos);
}

TEST_CASE("an arch that this revision cannot make is a usage error") {
  auto request = asking("12.1");
  request.revision = "v1.1.0";
  const auto error = error_of(demo_spec(), request);
  CHECK(error.code == "PLN006");
  CHECK(error.message.find("2222222") != std::string::npos);
}

TEST_CASE("an arch asked for that the cell's CUDA cannot make excludes the cell") {
  auto request = asking("8.0;12.1");
  request.profile = "all";
  request.cells = {"*-pytorch28-cu128-python312-sm*"};
  const auto plan = plan_of(demo_spec(), request);
  CHECK(plan.cells.empty());
  REQUIRE(excluded_ids_of(plan) == Words{"demo-pytorch28-cu128-python312-sm80-sm121"});
  CHECK(plan.excluded[0].reason.find("12.9 is the first that can") != std::string::npos);
}

TEST_CASE("an arch on request is built when asked for") {
  CHECK(arches_of(cell_for(asking("10.3"))) == Words{"10.3a"});
}

TEST_CASE("+PTX adds plain PTX to the modules that take it") {
  auto request = asking("9.0+PTX");
  request.pythons = {"3.12"};
  const auto plan = plan_of(demo_spec(), request);
  const auto& cell = plan.cells.at(0);
  CHECK(arches_of(cell) == Words{"9.0a+PTX"});
  CHECK(cell.id == "demo-pytorch211-cu130-python312-sm90aptx");
  CHECK(has(step_of(plan, "compile-_a-a1.cu").argv, "arch=compute_90,code=compute_90"));
  CHECK_FALSE(has(step_of(plan, "compile-_b-b.cu").argv, "arch=compute_90,code=compute_90"));
}

TEST_CASE("+PTX is an error where the spec does not allow it or no module takes it") {
  CHECK(error_of(demo_spec(), asking("10.3+PTX")).code == "PLN008");
  CHECK(error_of(demo_spec(), asking("12.0+PTX")).code == "PLN008");
}

TEST_CASE("a list that is not understood is an error") {
  CHECK(error_of(demo_spec(), asking("9.0;hopper")).kind == ErrorKind::usage);
}

TEST_CASE("native means the machine's GPUs") {
  auto machine = bare_machine();
  machine.gpus = {{"some GPU", {9, 0}, "580"}};
  auto request = asking("native");
  const auto plan = plan_of(demo_spec(), request, machine);
  CHECK(arches_of(plan.cells.at(0)) == Words{"9.0a"});
}

TEST_CASE("an arch for which no module is compiled is said, and excludes the cell when it is alone") {
  auto spec = demo_spec();
  for (auto& kernel : spec.kernels) std::erase(kernel.capabilities, Capability{8, 0});
  CHECK(mentions(cell_for({}, spec).notes, "8.0: no module is compiled for it"));
  const auto plan = plan_of(spec, asking("8.0"));
  CHECK(plan.cells.empty());
  CHECK(plan.excluded.at(0).reason == "no module is compiled for 8.0");
}

TEST_CASE("a refused defect excludes the cells it hurts, unless it is allowed") {
  Request request;
  request.profile = "old";
  request.cells = {"demo-pytorch211-cu130-python312*"};
  SUBCASE("refused") {
    const auto plan = plan_of(demo_spec(), request);
    CHECK(plan.cells.empty());
    REQUIRE(plan.excluded.size() == 1);
    CHECK(plan.excluded[0].reason ==
          "defect wrong-on-90: wrong results on Hopper; --allow-defect wrong-on-90 builds it anyway");
    CHECK(plan.excluded[0].source == "thread 1");
  }
  SUBCASE("allowed") {
    request.allowed_defects = {"wrong-on-90"};
    const auto plan = plan_of(demo_spec(), request);
    REQUIRE(plan.cells.size() == 1);
    CHECK(mentions(plan.cells[0].notes, "built all the same"));
    CHECK(plan.allowed_defects == Words{"wrong-on-90"});
  }
  SUBCASE("mended by an edit that applies") {
    request.backend = Backend::setup_py;
    const auto plan = plan_of(demo_spec(), request);
    REQUIRE(plan.cells.size() == 1);
    CHECK(mentions(plan.cells[0].notes, "mended by source edit mend"));
  }
  SUBCASE("not hurt") {
    request.arches = "8.0";
    const auto plan = plan_of(demo_spec(), request);
    REQUIRE(plan.cells.size() == 1);
    CHECK(has(plan.cells[0].notes, "defect slow: slow everywhere"));
    CHECK(plan.revision.version == "1.1.0");
  }
}
