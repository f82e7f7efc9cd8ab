#include "verify/provenance.hpp"

#include "unit/verify/fixture.hpp"

using namespace sagekit;
using namespace sagekit::test;

TEST_CASE("what is recorded in a wheel is read back") {
  const Spec spec = demo_spec();
  DemoBuild demo;
  const auto text = provenance_json(spec, spec.source.revisions[0], demo.build);
  const auto provenance = read_provenance(text);
  REQUIRE(provenance);
  CHECK(provenance->cell == demo.build.cell.id);
  CHECK(provenance->plugin == "demo");
  CHECK(provenance->commit == k_commit);
  CHECK(provenance->python == "3.12");
  CHECK(provenance->torch == "2.11.0");
  CHECK(provenance->cuda == "13.0");
  CHECK(provenance->platform == "linux_x86_64");
  REQUIRE(provenance->arches);
  CHECK(*provenance->arches == demo.build.cell.arches);
  CHECK(provenance->requires_dist == demo.build.cell.requires_dist);
}

TEST_CASE("a damaged record is an error, never half believed") {
  for (const auto* text :
       {"", "[]", "{}", R"({"schema":"other/1"})", R"({"schema":"sagekit.provenance/1","arches":["nine"]})",
        R"({"schema":"sagekit.provenance/1","arches":[9]})"}) {
    CAPTURE(text);
    const auto provenance = read_provenance(text);
    REQUIRE_FALSE(provenance);
    CHECK(provenance.error().code == "TRU003");
  }
}

TEST_CASE("a wheel for every later torch names none, but the first") {
  DemoBuild demo;
  demo.build.cell.torch_min = "2.9";  // torch 2.11.0 is then the one whose headers it has
  const auto build = provenance_of(demo_spec(), demo.build);
  CHECK(build.torch.empty());
  CHECK(build.torch_min == "2.9");
  const auto spec = demo_spec();
  const auto record = read_provenance(provenance_json(spec, spec.source.revisions.at(0), demo.build));
  REQUIRE(record);
  CHECK(record->torch.empty());
  CHECK(record->torch_min == "2.9");
  const auto version = provenance_of_version("2.2.0+cu128torch2.9.0andhigher.post4");
  CHECK(version.torch.empty());
  CHECK(version.torch_min == "2.9.0");
  CHECK(version.cuda == "12.8");
  CHECK(version.from == "the version");
}

TEST_CASE("all local versions in circulation can be read") {
  const auto check = [](std::string_view version, std::string_view torch, std::string_view cuda,
                        std::string_view commit = "") {
    CAPTURE(version);
    const auto provenance = provenance_of_version(version);
    CHECK(provenance.torch == torch);
    CHECK(provenance.cuda == cuda);
    CHECK(provenance.commit == commit);
    CHECK(provenance.from.empty() == (torch.empty() && cuda.empty() && commit.empty()));
  };
  check("2.2.0+cu130.torch2.11.20260117.gd1a57a5", "2.11", "13.0", "d1a57a5");
  check("2.2.0+cu128torch2.6.0", "2.6.0", "12.8");
  check("2.2.0+torch2.8.0.cu129", "2.8.0", "12.9");
  check("2.2.0+cu.13.0.torch.2.11", "2.11", "13.0");
  check("2.2.0+cuda12.8", "", "12.8");
  check("2.2.0+torch2110cu130", "2.11.0", "13.0");
  check("2.8.3+cu130.6810e2f", "", "13.0", "6810e2f");
  check("2.8.3+cu13.6810e2f", "", "13", "6810e2f");
  check("2.2.0+torch2.11.1234567a.cu130", "2.11", "13.0", "1234567a");
  check("2.2.0+cu130.4", "", "13.0");
  check("2.2.0+torch211.4", "2.1.1", "");
  check("0.0.33+5d4b92a5.d20251029", "", "", "5d4b92a5");  // the day of a tree that was changed, too
  check("0.0.33+20251029", "", "");
  check("2.2.0", "", "");
  check("2.2.0+local", "", "");
}
