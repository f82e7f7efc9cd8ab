#include "fixture.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

CellOverride for_cells(Words select) {
  CellOverride made;
  made.select = std::move(select);
  made.where = {"sagekit.toml", 7, 1, ""};
  return made;
}

CellOverride with_arch(Words select, std::string list, Merge merge = Merge::none) {
  auto made = for_cells(std::move(select));
  made.arch = {{std::move(list)}, merge};
  return made;
}

Request request_of(std::vector<CellOverride> overrides) {
  Request request;
  request.overrides = std::move(overrides);
  return request;
}

const Cell& cell_of(const Plan& plan, std::string_view id) {
  const auto found = std::ranges::find(plan.cells, id, &Cell::id);
  REQUIRE_MESSAGE(found != plan.cells.end(), id);
  return *found;
}

}  // namespace

TEST_CASE("an override gives the cells it selects another arch list, and the others keep theirs") {
  const auto plan = plan_of(demo_spec(), request_of({with_arch({"*-python311"}, "8.0")}));
  CHECK(ids_of(plan) == Words{"demo-pytorch211-cu130-python311-sm80", "demo-pytorch211-cu130-python312"});
  CHECK(arches_of(plan.cells[0]) == Words{"8.0"});
  CHECK(arches_of(plan.cells[1]) == Words{"8.0", "9.0a", "12.0a", "12.1a"});
  CHECK(plan.diagnostics.empty());
}

TEST_CASE("cells of one torch and CUDA with different arches share no step whose code differs") {
  auto spec = demo_spec();
  const auto plan = plan_of(spec, request_of({with_arch({"*-python311"}, "8.0")}));
  const auto steps_for = [&](const Cell& cell, std::string_view word) {
    return std::ranges::any_of(plan.steps, [&](const Step& step) {
      return has(step.cells, cell.id) &&
             std::ranges::any_of(step.argv, [&](const auto& item) { return item.find(word) != std::string::npos; });
    });
  };
  CHECK_FALSE(steps_for(plan.cells[0], "sm_90a"));
  CHECK(steps_for(plan.cells[1], "sm_90a"));
  CHECK(steps_for(plan.cells[0], "sm_80"));
}

TEST_CASE("what the machine lacks is asked for each arch list") {
  auto machine = cuda13_machine();
  std::erase_if(machine.nvcc.at(0).code, [](const Arch& arch) { return arch.capability == Capability{12, 1}; });
  machine.pythons.push_back(machine.pythons.at(0));
  machine.pythons.back().minor = "3.11";
  machine.pythons.back().abi = "cp311";
  // Whichever comes first: the answer for one list is no answer for the other.
  for (const auto* select : {"*-python311", "*-python312"}) {
    const auto plan = plan_of(demo_spec(), request_of({with_arch({select}, "8.0")}), machine);
    for (const auto& cell : plan.cells) CHECK(cell.buildable == cell.id.ends_with("-sm80"));
  }
}

TEST_CASE("arches are added to the default set, or to what was asked for") {
  auto added = with_arch({"*-python311"}, "10.3", Merge::append);
  auto plan = plan_of(demo_spec(), request_of({added}));
  CHECK(arches_of(plan.cells.at(0)) == Words{"8.0", "9.0a", "10.3a", "12.0a", "12.1a"});
  auto request = request_of({added});
  request.arches = "9.0";
  plan = plan_of(demo_spec(), request);
  CHECK(arches_of(plan.cells.at(0)) == Words{"9.0a", "10.3a"});
  CHECK(arches_of(plan.cells.at(1)) == Words{"9.0a"});
  added.arch = {{"9.0+PTX"}, Merge::prepend};
  plan = plan_of(demo_spec(), request_of({added}));
  CHECK(arches_of(plan.cells.at(0)) == Words{"8.0", "9.0a+PTX", "12.0a", "12.1a"});
}

TEST_CASE("of two overrides that match, the later one decides what both say, and keeps what it does not say") {
  auto first = with_arch({"*"}, "8.0");
  first.naming = {{"plain"}};
  const auto plan = plan_of(demo_spec(), request_of({first, with_arch({"*-python312"}, "9.0", Merge::append)}));
  CHECK(arches_of(plan.cells.at(0)) == Words{"8.0"});
  CHECK(arches_of(plan.cells.at(1)) == Words{"8.0", "9.0a"});
  CHECK(plan.cells[1].version == "1.2.0");
}

TEST_CASE("naming and requirements differ by cell") {
  auto some = for_cells({"*-python311"});
  some.naming = {{"build-tag"}};
  some.requires_dist = {{"triton>=3.5", "torch=={torch_minor}.*"}};
  auto others = for_cells({"*-python312"});
  others.requires_dist = {{"triton>=3.6"}, Merge::append};
  const auto plan = plan_of(demo_spec(), request_of({some, others}));
  CHECK(plan.cells.at(0).version == "1.2.0");
  CHECK_FALSE(plan.cells[0].build_tag.empty());
  CHECK(plan.cells[0].requires_dist == Words{"triton>=3.5", "torch==2.11.*"});
  CHECK(plan.cells[1].version == "1.2.0+cu130.torch2.11");
  CHECK(plan.cells[1].requires_dist == Words{"torch==2.11.*", "einops", "triton>=3.6"});
  others.requires_dist.merge = Merge::prepend;
  CHECK(plan_of(demo_spec(), request_of({others})).cells.at(1).requires_dist ==
        Words{"triton>=3.6", "torch==2.11.*", "einops"});
  others.requires_dist.words = {"triton 3.6"};
  const auto error = error_of(demo_spec(), request_of({others}));
  CHECK(error.code == "PLN014");
  CHECK(error.message.find("triton 3.6") != std::string::npos);
  others.requires_dist.words = {"numpy; python_version >= '{python}'"};  // has no value for all Pythons
  CHECK(
      error_of(demo_spec(), request_of({others})).message.find("python_version >= '{python}'\", here \"\", is none") !=
      std::string::npos);
}

TEST_CASE("globs see the platform, not the arch set that the override makes") {
  auto request = request_of({with_arch({"*-linux_aarch64"}, "8.0"), with_arch({"*-python311", "!*_aarch64"}, "9.0")});
  request.profile = "all";
  request.torches = {"2.11"};
  const auto plan = plan_of(demo_spec(), request);
  CHECK(arches_of(cell_of(plan, "demo-pytorch211-cu130-python311-linux_aarch64-sm80")) == Words{"8.0"});
  CHECK(arches_of(cell_of(plan, "demo-pytorch211-cu130-python311-sm90a")) == Words{"9.0a"});
  CHECK(arches_of(cell_of(plan, "demo-pytorch211-cu130-python312")).size() == 4);
}

TEST_CASE("an override that matches no cell of the whole matrix is warned about, one outside of the profile is not") {
  const auto plan =
      plan_of(demo_spec(), request_of({with_arch({"*-cu128-*"}, "8.0"), with_arch({"*-cu131-*"}, "8.0")}));
  REQUIRE(plan.diagnostics.size() == 1);
  const auto& said = plan.diagnostics.front();
  CHECK(said.severity == Severity::warning);
  CHECK(said.code == "PLN013");
  CHECK(said.message.find("*-cu131-*") != std::string::npos);
  CHECK(said.where.line == 7);
  CHECK(said.hint.find("demo-pytorch") != std::string::npos);
}

TEST_CASE("a wrong word in an override that matches any cell of the matrix is an error with its place") {
  auto error = error_of(demo_spec(), request_of({with_arch({"*-cu128-*"}, "9.1")}));
  CHECK(error.code == "PLN006");
  CHECK(error.where == "sagekit.toml:7");
  auto some = for_cells({"*"});
  some.naming = {{"plian"}};
  error = error_of(demo_spec(), request_of({some}));
  CHECK(error.code == "PLN003");
  CHECK(error.hint.find("plain") != std::string::npos);
  CHECK(error_of(demo_spec(), request_of({with_arch({"*"}, "Ampere")})).code == "ARC002");
}

TEST_CASE("wheels of one name that hold other arches are refused before they are built") {
  const auto spec = spec_of(k_head + k_plain_kernels + R"(
[[matrix.include]]
torch = []
cuda = ["13.0"]
python = ["3.11", "3.12"]
platform = ["linux_x86_64"]
source = "test"
[metadata]
name = "plain"
)");
  Request request;
  request.naming = "plain";
  CHECK(plan_of(spec, request).cells.size() == 2);  // "py3-none": one wheel
  request.overrides = {with_arch({"*-python311"}, "8.0+PTX")};
  CHECK(error_of(spec, request).code == "PLN012");
}
