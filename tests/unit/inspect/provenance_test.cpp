#include "inspect/provenance.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

constexpr std::string_view k_record =
    R"({"schema": "sagekit.provenance/1", "plugin": {"name": "tiny", "version": "2"}, "torch": "2.11.0", "cuda": "13.0",
        "source": {"url": "u", "commit": "d1a57a5", "date": "2026-01-17T17:43:28Z", "version": "2.2.0"}, "tools": ["t", 1]})";

Provenance said_by(std::string_view file, const std::vector<std::string>& requires_dist = {},
                   std::string_view record = {}) {
  auto read = read_provenance(record);
  const auto readings = read_wheel_name(file, naming_schemes()).value();
  return provenance_of(read ? std::optional(*read) : std::nullopt, readings, requires_dist);
}

/// The wheel's torch, CUDA and who says them.
std::string told(const std::string& version_and_build, const std::vector<std::string>& requires_dist = {},
                 std::string_view record = {}) {
  const auto said = said_by("tiny-" + version_and_build + "-cp312-cp312-linux_x86_64.whl", requires_dist, record);
  return said.torch + "|" + said.torch_min + "|" + said.torch_from + "|" + said.cuda + "|" + said.cuda_from;
}

}  // namespace

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

TEST_CASE("a record is one value for all who ask") {
  const auto record = read_provenance(k_record).value();
  CHECK(record.plugin + record.plugin_version + record.source_url + record.commit == "tiny2ud1a57a5");
  CHECK(record.source_date + " " + record.source_version == "20260117 2.2.0");
  CHECK(record.tools == std::vector<std::string>{"t"});
  CHECK(record.arches == std::vector<ArchRequest>());
  const auto odd = read_provenance(R"({"schema":"sagekit.provenance/1","cell":1,"source":[],"plugin":"x"})").value();
  CHECK((odd.cell + odd.commit + odd.plugin).empty());
}

TEST_CASE("a name says nothing that its readings do not all say") {
  const auto two = said_by("tiny-1.0-2311.130-cp312-cp312-linux_x86_64.whl");  // torch 2.31.1 or 2.3.11
  CHECK(two.torch.empty());
  CHECK(two.cuda == "13.0");
  CHECK_FALSE(two.is_recorded());
  CHECK(two.cuda_from == "its name");
  const auto every = said_by("tiny-2.2.0+cu128torch2.9.0andhigher.post4-cp310-abi3-win_amd64.whl");
  CHECK(every.torch.empty());
  CHECK(every.torch_min == "2.9.0");
  CHECK(every.commit.empty());  // post4 is none
  CHECK(said_by("tiny-1.0+cu130.torch2.11.20260117.gd1a57a5-cp312-cp312-linux_x86_64.whl").commit == "d1a57a5");
  for (const auto* none :
       {"tiny-1.0-py3-none-any.whl", "tiny-1.0+local-py3-none-any.whl", "tiny-1.0-12-py3-none-any.whl",
        "tiny-1.0+20251029-py3-none-any.whl", "tiny-1.0+d20251029-py3-none-any.whl"}) {
    CAPTURE(none);
    const auto said = said_by(none);
    CHECK((said.torch_from + said.cuda_from + said.commit).empty());
  }
}

TEST_CASE("a record is heard before the name, and the name before what is required, but for a pin") {
  const std::string name = "1.0+cu128torch2.10.0";
  CHECK(told(name, {"torch==2.9.*"}, k_record) == "2.11.0||sagekit.json|13.0|sagekit.json");
  CHECK(told(name, {}, "{}") == "2.10.0||its name|12.8|its name");  // what cannot be read is no record
  CHECK(told(name, {}, R"({"schema": "sagekit.provenance/1"})") == "||sagekit.json||sagekit.json");  // there is none
  CHECK(told("1.0", {"torch==2.7.0"}) == "2.7.0||Requires-Dist||");
  CHECK(told("1.0", {"torch>=2.7"}) == "||||");
  CHECK(told("1.0+torch2.7", {"torch==2.7.0"}) == "2.7.0||Requires-Dist||");
  CHECK(told("1.0+cu128torch2.7.1", {"torch==2.7.*"}) == "2.7.1||its name|12.8|its name");
  CHECK(told(name, {"torch==2.7.0"}) == "2.7.0||Requires-Dist|12.8|its name");
  CHECK(told("1.0+cu128torch2.9.0andhigher.post4", {"torch==2.10.*"}) == "2.10||Requires-Dist|12.8|its name");
  CHECK(told("1.0+cu128torch2.9.0andhigher.post4", {"torch>=2.9"}) == "|2.9.0|its name|12.8|its name");
  CHECK(told("1.0-2311.130", {"torch==2.31.1"}) == "2.31.1||Requires-Dist|13.0|its name");
  // What the name claims stays beside it, so that a pin which contradicts it is seen.
  const auto both = said_by("tiny-1.0+cu128torch2.10.0-cp312-cp312-linux_x86_64.whl", {"torch==2.7.0"});
  CHECK(both.claimed_torch() == "2.10.0");
  CHECK(both.claimed_from() == "its name");
}
