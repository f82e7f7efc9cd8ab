#include "fixture.hpp"

using namespace sagekit;
using namespace sagekit::test;

TEST_CASE("the default profile selects its cells on linux_x86_64, sorted by id") {
  const auto plan = plan_of(demo_spec());
  CHECK(ids_of(plan) == Words{"demo-pytorch211-cu130-python311", "demo-pytorch211-cu130-python312"});
  CHECK(plan.excluded.empty());
}

TEST_CASE("without a default profile every cell is selected") {
  auto spec = demo_spec();
  std::erase_if(spec.profiles, [](const auto& profile) { return profile.name == "default"; });
  const auto plan = plan_of(spec);
  CHECK(ids_of(plan) == Words{"demo-pytorch28-cu128-python311", "demo-pytorch28-cu128-python312",
                              "demo-pytorch211-cu130-python311", "demo-pytorch211-cu130-python312"});
}

TEST_CASE("rows of the matrix are united without repetition and other platforms have a suffix") {
  Request request;
  request.profile = "all";
  const auto plan = plan_of(demo_spec(), request);
  CHECK(ids_of(plan) == Words{"demo-pytorch28-cu128-python311", "demo-pytorch28-cu128-python311-linux_aarch64",
                              "demo-pytorch28-cu128-python312", "demo-pytorch28-cu128-python312-linux_aarch64",
                              "demo-pytorch28-cu128-python312-win_amd64", "demo-pytorch211-cu130-python311",
                              "demo-pytorch211-cu130-python311-linux_aarch64", "demo-pytorch211-cu130-python312",
                              "demo-pytorch211-cu130-python312-linux_aarch64"});
}

TEST_CASE("an excluded cell says why and who says so") {
  Request request;
  request.profile = "all";
  request.platforms = {"linux_x86_64"};
  request.pythons = {"3.12"};
  const auto plan = plan_of(demo_spec(), request);
  REQUIRE(excluded_ids_of(plan) == Words{"demo-pytorch28-cu130-python312", "demo-pytorch211-cu128-python312"});
  CHECK(plan.excluded[1].reason == "not wanted");
  CHECK(plan.excluded[1].source == "us");
  CHECK(plan.excluded[1].wheel == "demo_pkg-1.2.0+cu128.torch2.11-cp312-cp312-linux_x86_64.whl");
  SUBCASE("a torch that was never published for that CUDA is core data") {
    CHECK(plan.excluded[0].reason.find("never published for CUDA 13.0") != std::string::npos);
    CHECK_FALSE(plan.excluded[0].source.empty());
  }
}

TEST_CASE("a torch that was never published for that Python or platform is excluded") {
  auto spec = demo_spec();
  spec.profiles.clear();
  spec.matrix.include = {{{"2.8.0"}, {"12.9"}, {"3.8"}, {"linux_x86_64"}, ""}};
  auto plan = plan_of(spec);
  REQUIRE(plan.excluded.size() == 1);
  CHECK(plan.excluded[0].reason.find("Python 3.8") != std::string::npos);
  CHECK(plan.cells.empty());
}

TEST_CASE("excluded cells outside the selection are not listed") {
  Request request;
  request.cells = {"*-pytorch211-cu130-python312"};
  const auto plan = plan_of(demo_spec(), request);
  CHECK(ids_of(plan) == Words{"demo-pytorch211-cu130-python312"});
  CHECK(plan.excluded.empty());
}

TEST_CASE("a selection in which everything is excluded is a plan without cells") {
  Request request;
  request.profile = "all";
  request.cells = {"demo-pytorch28-cu130-python312"};
  const auto plan = plan_of(demo_spec(), request);
  CHECK(plan.cells.empty());
  CHECK(excluded_ids_of(plan) == Words{"demo-pytorch28-cu130-python312"});
}

TEST_CASE("narrowing flags take a version or its beginning") {
  Request request;
  request.profile = "all";
  request.torches = {"2.8"};
  request.cudas = {"12"};
  request.pythons = {"3.11"};
  request.platforms = {"linux_aarch64"};
  CHECK(ids_of(plan_of(demo_spec(), request)) == Words{"demo-pytorch28-cu128-python311-linux_aarch64"});
  request.torches = {"2.1"};
  CHECK(error_of(demo_spec(), request).code == "PLN004");
}

TEST_CASE("of several words none is dropped: one that is not on the axis is refused, one without a cell is warned of") {
  Request request;
  request.profile = "all";
  request.torches = {"2.11", "2.99", "cu1"};
  CHECK(error_of(demo_spec(), request).code == "PLN004");
  CHECK(error_of(demo_spec(), request).hint.starts_with("the matrix has no torch 2.99, cu1; it has "));
  request.torches = {"2.11", "2.8"};
  request.cudas = {"cu130"};
  CHECK(plan_of(demo_spec(), request).diagnostics.empty());
  request.profile = {};
  request.pythons = {"3.12"};
  const auto plan = plan_of(demo_spec(), request);
  CHECK(ids_of(plan) == Words{"demo-pytorch211-cu130-python312"});
  REQUIRE(plan.diagnostics.size() == 1);
  CHECK(plan.diagnostics[0].code == "PLN015");
  CHECK(plan.diagnostics[0].message.find("torch 2.8") != std::string::npos);
}

TEST_CASE("narrowing flags take what ids and file names say") {
  Request request;
  request.profile = "all";
  request.platforms = {"linux_x86_64"};
  request.torches = {"pytorch28"};
  request.cudas = {"cu128"};
  request.pythons = {"cp312"};
  CHECK(ids_of(plan_of(demo_spec(), request)) == Words{"demo-pytorch28-cu128-python312"});
  request.torches = {"2.11.0+cu130"};
  request.cudas = {"13"};
  request.pythons = {"312"};
  CHECK(ids_of(plan_of(demo_spec(), request)) == Words{"demo-pytorch211-cu130-python312"});
  SUBCASE("and a mistake is quoted as typed, the axis sorted by version") {
    auto spec = demo_spec();
    spec.matrix.include[0].python = {"3.10", "3.9", "3.11"};
    spec.matrix.include[1].python = {};
    request.pythons = {"cp38"};
    CHECK(error_of(spec, request).hint.find("no Python cp38; it has ") != std::string::npos);
    CHECK(error_of(spec, request).hint.ends_with("3.9, 3.10, 3.11"));
  }
}

TEST_CASE("the flag for platforms comes before the profile's") {
  Request request;
  request.platforms = {"linux_aarch64"};
  CHECK(ids_of(plan_of(demo_spec(), request)) ==
        Words{"demo-pytorch211-cu130-python311-linux_aarch64", "demo-pytorch211-cu130-python312-linux_aarch64"});
}

TEST_CASE("profile globs do not see the platform, cell globs do") {
  Request request;
  request.profile = "hopper";
  request.cells = {"*-linux_aarch64*", "!*cu130*"};
  const auto plan = plan_of(demo_spec(), request);
  CHECK(ids_of(plan) == Words{"demo-pytorch28-cu128-python312-linux_aarch64-sm90a"});
}

TEST_CASE("patterns that only take away take away from everything") {
  Request request;
  request.cells = {"!*python311"};
  CHECK(ids_of(plan_of(demo_spec(), request)) == Words{"demo-pytorch211-cu130-python312"});
}

TEST_CASE("a glob among several that matches nothing is told, also one that takes away") {
  Request request;
  request.cells = {"*", "!*python3_11", "*-nowhere", "!*python311"};
  const auto plan = plan_of(demo_spec(), request);
  CHECK(ids_of(plan) == Words{"demo-pytorch211-cu130-python312"});
  REQUIRE(plan.diagnostics.size() == 2);
  CHECK(plan.diagnostics[0].code == "PLN015");
  CHECK(plan.diagnostics[0].severity == Severity::warning);
  CHECK(plan.diagnostics[0].message ==
        "--cells !*python3_11 excludes nothing: no cell of the selection (profile \"default\") matches it");
  CHECK(plan.diagnostics[0].hint.starts_with("nearest ids: demo-pytorch211-cu130-python311"));
  CHECK(plan.diagnostics[1].message.starts_with("--cells *-nowhere adds nothing"));
}

TEST_CASE("nothing selected is no_match with the nearest ids") {
  Request request;
  request.cells = {"demo-pytorch211-cu130-python399"};
  auto error = error_of(demo_spec(), request);
  CHECK(error.kind == ErrorKind::no_match);
  CHECK(error.code == "PLN004");
  CHECK(error.hint.find("demo-pytorch211-cu130-python31") != std::string::npos);

  SUBCASE("a cell outside the profile is named as that") {
    request.cells = {"demo-pytorch28-cu128-python312"};
    CHECK(error_of(demo_spec(), request).hint == "the matrix has demo-pytorch28-cu128-python312; --profile old has it");
    auto spec = demo_spec();
    std::erase_if(spec.profiles, [](const Profile& profile) { return profile.name != "default"; });
    CHECK(error_of(spec, request).hint.ends_with("; no profile has it"));
    request.cells = {"demo-pytorch28-cu128-python312-win_amd64"};
    CHECK(error_of(demo_spec(), request).hint.ends_with("--profile all has it"));
  }
  SUBCASE("a flag that names nothing on its axis is named") {
    request.cells.clear();
    request.cudas = {"11.8"};
    CHECK(error_of(demo_spec(), request).hint == "the matrix has no CUDA 11.8; it has 12.8, 13.0");
  }
}

TEST_CASE("wrong words are usage errors that name the nearest right one") {
  struct Row {
    Request request;
    const char* code;
    const char* hint;
  };
  Request profile, revision, naming, defect;
  profile.profile = "hoper";
  revision.revision = "mian";
  naming.naming = "onw";
  defect.allowed_defects = {"wrong-on-9"};
  for (const auto& row : {Row{profile, "PLN001", "hopper"}, Row{revision, "PLN002", "main"},
                          Row{naming, "PLN003", "own"}, Row{defect, "PLN005", "wrong-on-90"}}) {
    const auto error = error_of(demo_spec(), row.request);
    CHECK(error.kind == ErrorKind::usage);
    CHECK(error.code == row.code);
    CHECK(error.hint.find(row.hint) != std::string::npos);
  }
}

TEST_CASE("two patch releases of one torch minor have the full version in their ids, others keep the short one") {
  auto spec = demo_spec();
  spec.profiles.clear();
  spec.matrix.exclude.clear();
  spec.matrix.include = {{{"2.9.0", "2.9.1", "2.8.0"}, {"12.8"}, {"3.12"}, {"linux_x86_64"}, ""}};
  CHECK(error_of(spec, {}).code == "PLN012");  // its own scheme names the minor only
  spec.default_scheme = "local-version";
  CHECK(ids_of(plan_of(spec)) == Words{"demo-pytorch28-cu128-python312", "demo-pytorch2.9.0-cu128-python312",
                                       "demo-pytorch2.9.1-cu128-python312"});
}

TEST_CASE("two cells with one id are an error") {
  auto spec = demo_spec();
  spec.profiles.clear();
  spec.matrix.include = {{{"2.8.0"}, {"12.8", "1.28"}, {"3.12"}, {"linux_x86_64"}, ""}};
  const auto error = error_of(spec, {});
  CHECK(error.code == "PLN009");
  CHECK(error.message.find("demo-pytorch28-cu128-python312") != std::string::npos);
}

TEST_CASE("a variant without torch has cells without torch") {
  const auto spec = spec_of(k_head + k_plain_kernels + k_plain_matrix + k_tail);
  const auto plan = plan_of(spec);
  REQUIRE(ids_of(plan) == Words{"demo-cu130-python312"});
  const auto& cell = plan.cells[0];
  CHECK(cell.torch.empty());
  CHECK(cell.wheel == "demo_pkg-1.2.0+cu130-py3-none-linux_x86_64.whl");
  CHECK(cell.tags == Words{"py3-none-linux_x86_64"});
  CHECK(cell.requires_dist == Words{"einops"});
  Request request;
  request.torches = {"2.11"};
  CHECK(error_of(spec, request).hint == "this plugin's matrix has no torch: leave 2.11 out");
}
