#include "release/facts_cache.hpp"
#include "release/origin.hpp"

#include <sagekit/release.hpp>

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

ReleasedWheel sample_wheel() {
  ReleasedWheel wheel;
  wheel.file = "tiny_kernels-1.2.0+cu130.torch2.11-cp312-cp312-linux_x86_64.whl";
  wheel.path = "linux/" + wheel.file;
  wheel.url = "https://example.org/a%2Bb.whl";
  wheel.size_bytes = 1234;
  wheel.sha256 = std::string(64, 'a');
  wheel.project = "tiny-kernels";
  wheel.version = "1.2.0+cu130.torch2.11";
  wheel.requires_python = ">=3.9";
  wheel.metadata_sha256 = std::string(64, 'b');
  wheel.metadata_bytes = 99;
  wheel.uploaded = "2026-11-22T08:00:00.000000Z";
  wheel.origin = {"tiny",
                  "1",
                  "https://example.org/tiny",
                  std::string(40, 'c'),
                  "tiny-x",
                  "3.12",
                  "2.11.0",
                  "13.0",
                  "linux_x86_64",
                  "",
                  {"9.0a", "12.0+PTX"},
                  {"fix"},
                  {"nvcc 13.0.88"},
                  true,
                  ">=2.11"};
  wheel.verdict = WheelVerdict::pass;
  RunsOn row;
  row.capability = {9, 0};
  row.verdict = RunVerdict::yes;
  row.reason = "has code for it";
  wheel.runs_on = {row};
  Finding finding;
  finding.code = "TRU001";
  finding.severity = Severity::warning;
  finding.result = FindingResult::warn;
  finding.message = "odd </script> & \"quotes\"";
  wheel.findings = {finding};
  return wheel;
}

Release sample_release() { return {"tiny", "1", std::string(64, 'd'), "https://example.org/tiny", {sample_wheel()}}; }

}  // namespace

TEST_CASE("a manifest says again what it was made from") {
  const auto text = release_json(sample_release());
  CHECK(text.starts_with("{\n  \"schema\": \"sagekit.release/1\","));
  const auto read = read_release(text, "x.json");
  REQUIRE(read);
  CHECK(release_json(*read) == text);
  REQUIRE(read->wheels.size() == 1);
  CHECK(read->wheels[0].origin.arches == std::vector<std::string>{"9.0a", "12.0+PTX"});
  CHECK(read->wheels[0].project == "tiny-kernels");
  CHECK(read->wheels[0].runs_on[0].reason == "has code for it");
}

TEST_CASE("a manifest with a doubtful row is refused with its place") {
  const auto good = release_json(sample_release());
  const auto refused = [&](std::string from, std::string to) {
    auto text = good;
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    const auto read = read_release(text, "x.json");
    REQUIRE_FALSE(read);
    CHECK(read.error().code == "REL015");
    return read.error().message;
  };
  CHECK(refused("sagekit.release/1", "sagekit.release/2").find("schema") != std::string::npos);
  CHECK(refused(std::string(64, 'a'), "ABC").find("\"sha256\"") != std::string::npos);
  CHECK(refused("\"size_bytes\": 1234", "\"size_bytes\": -1").find("size_bytes") != std::string::npos);
  CHECK(refused("\"file\": \"tiny", "\"file\": \"../tiny").find("no name of a wheel") != std::string::npos);
  CHECK(refused("\"capability\": \"9.0\"", "\"capability\": \"x\"").find("runs_on") != std::string::npos);
  CHECK_FALSE(read_release("[]", "x.json"));
  CHECK_FALSE(read_release("", "x.json"));
  auto twice = sample_release();
  twice.wheels.push_back(sample_wheel());
  CHECK_FALSE(read_release(release_json(twice), "x.json"));
}

TEST_CASE("remembered facts come back whole or not at all") {
  std::map<std::string, KnownWheel, std::less<>> known;
  const auto wheel = sample_wheel();
  known[wheel.path] = {{1234, 5, 6, 7}, wheel};
  const auto text = facts_text(known);
  const auto read = read_facts(text);
  REQUIRE(read.size() == 1);
  const auto& again = read.begin()->second;
  CHECK(again.state == FileState{1234, 5, 6, 7});
  CHECK(again.wheel.origin == wheel.origin);
  CHECK(again.wheel.requires_python == wheel.requires_python);
  CHECK(again.wheel.metadata_bytes == 99);
  // A cut file loses its last line, another version all of them.
  CHECK(read_facts(text.substr(0, text.size() - 1)).empty());
  CHECK(read_facts("sagekit.wheel-facts/0\n" + text.substr(text.find('\n') + 1)).empty());
  // A line with a field too few or too many is no knowledge.
  CHECK(read_facts(text.substr(0, text.rfind('\t')) + "\n").empty());
  CHECK(read_facts(text.substr(0, text.size() - 1) + "\tmore\n").empty());
  // What would break the line is left out.
  known.begin()->second.wheel.requires_python = "a\nb";
  CHECK(read_facts(facts_text(known)).empty());
}

TEST_CASE("a wheel's origin is what it says itself, else what its name tells") {
  const auto reader = WheelNameReader::make(naming_schemes()).value();
  const auto of = [&](std::string_view file, std::string_view record, const std::vector<std::string>& lines = {}) {
    const auto name = parse_wheel_name(file).value();
    auto read = read_provenance(record);
    return origin_of(name, provenance_of(read ? std::optional(*read) : std::nullopt, reader.read(name), lines), lines);
  };
  const auto said = of("a-1+cu128torch2.9.1-cp310-abi3-win_amd64.whl",
                       R"({"schema":"sagekit.provenance/1","cell":"c","plugin":{"name":"p","version":"2"},
    "source":{"url":"u","commit":"abc"},"python":"3.12","torch":"2.11.0","cuda":"13.0","platform":"linux_x86_64",
    "arches":["9.0a"],"tools":["t",1,"edit e"]})");
  CHECK(said ==
        WheelOrigin{
            "p", "2", "u", "abc", "c", "3.12", "2.11.0", "13.0", "linux_x86_64", "", {"9.0a"}, {"e"}, {"t", "edit e"}});
  const auto named = [&](const char* file) { return of(file, ""); };
  const auto one = named("sageattention-2.2.0+cu130.torch2.11.20260117.gd1a57a5-cp312-cp312-manylinux_2_28_x86_64.whl");
  CHECK(one.cuda == "13.0");
  CHECK(one.torch == "2.11");
  CHECK(one.commit == "d1a57a5");
  CHECK(one.python == "3.12");
  CHECK(one.platform == "linux_x86_64");
  CHECK(named("a-1-cp310-abi3-win_amd64.whl").platform == "win_amd64");
  CHECK(named("a-1-cp310-abi3-win_amd64.whl").python.empty());
  CHECK(named("a-1-cp313-cp313t-linux_aarch64.whl").python == "3.13t");
  CHECK(named("a-1-py3-none-any.whl").platform.empty());
}

TEST_CASE("what METADATA asks of torch is kept where nothing says a torch") {
  const auto reader = WheelNameReader::make(naming_schemes()).value();
  const auto range = [&](const std::string& torch, const std::vector<std::string>& lines) {
    const auto name = parse_wheel_name("a-1" + (torch.empty() ? "" : "+torch" + torch) + "-py3-none-any.whl").value();
    return origin_of(name, provenance_of({}, reader.read(name), lines), lines).requires_torch;
  };
  CHECK(range("", {"numpy", "torch (>= 2.10, <3)"}) == ">=2.10,<3");
  CHECK(range("2.9", {"torch>=2.8"}).empty());
  CHECK(range("", {"torch"}).empty());
  CHECK(range("", {"torch>=2.10; extra == \"gpu\""}).empty());
  CHECK(range("", {"torch>=2.9; os_name == \"nt\"", "torch>=2.10; os_name != \"nt\""}).empty());
}

TEST_CASE("a wheel for many Pythons is not said to be for the one that it was made with") {
  const auto served = [](const char* file, const char* requires_python) {
    ReleasedWheel wheel;
    wheel.file = file;
    wheel.requires_python = requires_python;
    wheel.origin.python = "3.11";
    const auto python = served_pythons(wheel);
    return python.only + "|" + python.least;
  };
  CHECK(served("a-1-cp311-cp311-linux_x86_64.whl", ">=3.9") == "3.11|");
  CHECK(served("a-1-cp310-abi3-win_amd64.whl", ">=3.9") == "|3.10");
  CHECK(served("a-1-py3-none-linux_x86_64.whl", ">=3.9") == "|3.9");
  CHECK(served("a-1-py3-none-linux_x86_64.whl", ">=3.9,<3.13") == "|");
  CHECK(served("a-1-py3-none-linux_x86_64.whl", "") == "|");
  CHECK(served("a-1-cp310.cp311-none-any.whl", ">=3.9") == "3.10, 3.11|");
  CHECK(served("a-1-cp310.py3-none-any.whl", ">=3.9") == "3.11|");
  CHECK(served("no wheel", "") == "3.11|");
}
