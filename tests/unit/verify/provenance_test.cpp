#include "spec/name_readings.hpp"
#include "spec/name_values.hpp"
#include "support/text.hpp"
#include "unit/verify/fixture.hpp"
#include "verify/build_provenance.hpp"
#include "verify/judge.hpp"

#include <fstream>

using namespace sagekit;
using namespace sagekit::test;

namespace {

Provenance said_by(std::string_view file) {
  Artifact artifact;
  artifact.name = parse_wheel_name(file).value();
  FindingList findings(Policy::others, std::vector<std::string>{});
  prepare(artifact, {}, nullptr, {}, findings);
  return artifact.provenance;
}

}  // namespace

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
}

TEST_CASE("a wheel without a record says what its name says") {
  const auto reader = WheelNameReader::make(naming_schemes()).value();
  std::ifstream table(SAGEKIT_SOURCE_DIR "/tests/golden/names.tsv");
  std::size_t rows = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.starts_with('#')) continue;
    auto file = line.substr(0, line.find_first_of("\t?"));
    file = replace_all(file.substr(file.find_last_of('/') + 1), "%2B", "+");  // a folder is none of the wheel's
    const auto read = reader.read(file).value();
    CAPTURE(file);
    const auto provenance = said_by(file);
    CHECK(provenance.torch == read.front().torch);
    CHECK(provenance.torch_min == read.front().torch_min);
    CHECK(provenance.cuda == read.front().cuda);
    CHECK(provenance.commit == (is_commit(read.front().revision) ? read.front().revision : ""));
    ++rows;
  }
  CHECK(rows >= 120);
}

TEST_CASE("a name is read by the rows of the plugins, and first by the project's own") {
  auto spec = demo_spec();
  spec.schemes = {{"house", "{version}+c{cuda_digits}t{torch_digits}"}};
  const auto name = parse_wheel_name("tiny-1.0+c128t271-cp312-cp312-linux_x86_64.whl").value();
  CHECK(name_readings(name, {}, {}).front().torch.empty());
  CHECK(name_readings(name, {}, {&spec}).front().torch == "2.7.1");
  const std::vector<NamingScheme> own = {{"house", "{version}+c{cuda_digits}t{torch_minor_digits}"}};
  CHECK(name_readings(name, own, {&spec}).front().torch == "2.71");
}
