#include "resolve/release_reader.hpp"

#include "support/format.hpp"

#include <doctest/doctest.h>

namespace sagekit {

namespace {

using Form = ListedRelease::Form;

ListedRelease read_release_text(std::string_view text) {
  auto read = read_listed_release(text);
  REQUIRE_MESSAGE(read, text);
  return std::move(*read);
}

}  // namespace

TEST_CASE("a manifest's entries are read whatever stands beside them") {
  const auto read = read_release_text(R"({
    "notes": {"wheels": [{"file": "no"}], "schema": "other"},
    "wheels": [
      {"file": "a.whl", "url": "https://example.org/a.whl", "sha256": "00", "size_bytes": 43, "size": 7, "torch": "2.9.1",
       "cuda": "13.0", "commit": "d1a57a5", "verdict": "pass", "name": "not of this form",
       "arches": ["8.0", "9.0a", 7, "no arch", ["8.6"]],
       "runs_on": [{"capability": "8.0", "verdict": "yes", "driver": "580", "toolkit": "13.0", "gpus": ["A100", {"verdict": "deeper"}]},
                   {"capability": "none", "verdict": "yes"}, ["capability", "9.0"], 5, {"verdict": "yes"},
                   {"verdict": "no", "reason": "no code", "capability": "9.0"}],
       "findings": [{"verdict": "fail", "file": "b.whl"}]},
      {"file": 7, "size_bytes": -1}, 5, null, ["file"]],
    "schema": "sagekit.release/1"})");
  CHECK(read.form == Form::manifest);
  CHECK(read.has_list);
  REQUIRE(read.wheels.size() == 5);
  const auto& wheel = read.wheels.front();
  CHECK(wheel.file == "a.whl");
  CHECK(wheel.url == "https://example.org/a.whl");
  CHECK(wheel.hash == "00");
  CHECK(wheel.size_bytes == 43);
  CHECK(wheel.manifest.torch == "2.9.1");
  CHECK(wheel.manifest.cuda == "13.0");
  CHECK(wheel.manifest.commit == "d1a57a5");
  CHECK(wheel.manifest.verdict == WheelVerdict::pass);
  REQUIRE(wheel.manifest.arches.size() == 2);
  CHECK(to_string(wheel.manifest.arches.back()) == "9.0a");
  REQUIRE(wheel.manifest.runs_on.size() == 2);
  CHECK(wheel.manifest.runs_on.front().verdict == RunVerdict::yes);
  CHECK(wheel.manifest.runs_on.front().driver == "580");
  CHECK(wheel.manifest.runs_on.front().toolkit == "13.0");
  CHECK(to_string(wheel.manifest.runs_on.back().capability) == "9.0");
  CHECK(wheel.manifest.runs_on.back().reason == "no code");
  // What is no text, no number from 0 on or no object is an entry that says nothing.
  for (std::size_t i = 1; i < read.wheels.size(); ++i) {
    CHECK(read.wheels[i].file.empty());
    CHECK(read.wheels[i].size_bytes == 0);
  }
}

TEST_CASE("GitHub's assets are read from one release and from a list of them") {
  constexpr std::string_view k_asset =
      R"({"name": "a.whl", "browser_download_url": "https://example.org/a.whl", "digest": "sha256:00", "size": 9, "file": "b"})";
  const auto one = read_release_text(fmt::format(R"({{"assets": [{}], "wheels": [{{"file": "c"}}]}})", k_asset));
  const auto list =
      read_release_text(fmt::format(R"([{{"assets": [{0}]}}, {{"id": 1, "assets": [{0}, {0}]}}])", k_asset));
  CHECK(list.wheels.size() == 3);
  for (const auto* read : {&one, &list}) {
    CHECK(read->form == Form::assets);
    CHECK(read->has_list);
    CHECK(read->all_objects);
    REQUIRE(!read->wheels.empty());
    CHECK(read->wheels.back().file == "a.whl");
    CHECK(read->wheels.back().url == "https://example.org/a.whl");
    CHECK(read->wheels.back().hash == "sha256:00");
    CHECK(read->wheels.back().size_bytes == 9);
  }
}

TEST_CASE("what is missing or of another kind is told") {
  CHECK(read_release_text(R"({"schema": "sagekit.release/1"})").has_list == false);
  CHECK(read_release_text(R"({"schema": "sagekit.release/1", "wheels": {"file": "a"}})").has_list == false);
  CHECK(read_release_text(R"({"assets": {"name": "a"}})").has_list == false);
  CHECK(read_release_text(R"({"assets": "a"})").has_list == false);
  CHECK(read_release_text(R"([{"assets": []}, {"id": 1}])").has_list == false);
  CHECK(read_release_text(R"([{"assets": []}, 1])").all_objects == false);
  CHECK(read_release_text(R"([{"assets": []}, []])").all_objects == false);
  CHECK(read_release_text(R"({"files": [{"filename": "a"}], "schema": "x"})").form == Form::none);
  CHECK(read_release_text(R"({"files": [{"filename": "a"}], "schema": "x"})").schema == "x");
  for (const std::string_view broken : {"", "{", "[1,]", R"({"wheels": [}])", R"({"wheels": []} more)"})
    CHECK_FALSE(read_listed_release(broken));
}

TEST_CASE("brackets and lists have an end") {
  const std::string deep(32, '['), deeper(33, '[');
  CHECK(read_listed_release(deep + std::string(32, ']')));
  CHECK_FALSE(read_listed_release(deeper + std::string(33, ']')));
  CHECK_FALSE(read_listed_release(std::string(10'000'000, '[')));
  std::string many = R"({"wheels": [)";
  for (int i = 0; i < 200'001; ++i) many += "{},";
  CHECK(read_release_text(many).too_many);  // and the rest was not read, which is no JSON
}

}  // namespace sagekit
