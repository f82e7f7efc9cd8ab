// The texts of a retagged wheel, and what its new name may say.
#include "package/dist_info_edit.hpp"
#include "package/retag_names.hpp"
#include "package/variant_text.hpp"
#include "pypa/metadata_reader.hpp"
#include "pypa/variant_reader.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace sagekit;

namespace {

constexpr std::string_view k_said =
    R"({"schema": "sagekit.provenance/1", "cell": "tiny-pytorch211-cu130-python312", "torch": "2.11.0", "cuda": "13.0",
        "source": {"commit": "d1a57a546c3d395b1ffcbeecc66d81db76f3b4b5", "date": "2026-01-17T17:43:28Z", "version": "2.2.0"},
        "arches": ["9.0a", "12.0+PTX"]})";

WheelName named(std::string_view text) { return parse_wheel_name(text).value(); }

RetagRequest with_scheme(std::string_view name) {
  const auto schemes = naming_schemes();
  RetagRequest request;
  request.naming = *std::ranges::find(schemes, name, &NamingScheme::name);
  return request;
}

std::string code_of(const Status& status) { return status ? "" : status.error().code; }

RunsOn runs(int major, int minor, RunVerdict verdict) {
  RunsOn row;
  row.capability = {major, minor};
  row.gpus = {"GPU " + to_string(row.capability)};
  row.verdict = verdict;
  return row;
}

MemberFacts gpu_module(std::vector<GpuCode> code) {
  MemberFacts member;
  member.path = "tiny/_k.so";
  member.gpu = std::move(code);
  return member;
}

GpuCode code_for(int major, int minor, bool ptx, std::string toolkit) {
  GpuCode code;
  code.arch = {{major, minor}, ArchSuffix::none};
  code.ptx = ptx;
  code.toolkit = std::move(toolkit);
  return code;
}

}  // namespace

TEST_CASE("a header changes in its place, and nothing else does") {
  const std::string text = "Metadata-Version: 2.1\nName: a\nversion: 1\n folded\nSummary: s\n\nVersion: of the body\n";
  CHECK(with_headers(text, "Version", {"2"}) ==
        "Metadata-Version: 2.1\nName: a\nVersion: 2\nSummary: s\n\nVersion: of the body\n");
  CHECK(with_headers(text, "Summary", {}) ==
        "Metadata-Version: 2.1\nName: a\nversion: 1\n folded\n\nVersion: of the body\n");
  CHECK(with_headers("A: 1\r\nTag: x\r\n", "Tag", {"y", "z"}) == "A: 1\r\nTag: y\r\nTag: z\r\n");
  CHECK(with_headers("A: 1", "B", {"2"}) == "A: 1\nB: 2\n");
  CHECK(with_headers("", "B", {"2"}) == "B: 2\n");
  CHECK(with_headers("A: 1\n", "A", {"1"}) == "A: 1\n");
}

TEST_CASE("requirements replace those on their project") {
  const std::vector<std::string> old = {"numpy", "Torch>=2", "triton; python_version < \"3.13\""};
  CHECK(with_requirements(old, {"torch==2.11.*", "!triton"}).value() ==
        std::vector<std::string>{"numpy", "torch==2.11.*"});
  CHECK(with_requirements(old, {"a>1", "a<2; os_name == \"nt\""}).value().size() == 5);
  CHECK(with_requirements(old, {"=="}).error().code == "RTG007");
}

TEST_CASE("RECORD follows its members") {
  const std::string now = "new";
  const auto record = with_members("a.py,sha256=x,1\n\"b,c\",,\n", [&](const std::string& path) {
    return RecordChange{path == "a.py" ? "z.py" : path, path == "a.py" ? &now : nullptr};
  });
  const auto rows = read_record(record.value()).rows;
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].path == "z.py");
  CHECK(rows[0].size == "3");
  CHECK(rows[0].hash.starts_with("sha256="));
  CHECK(rows[1].path == "b,c");
  CHECK(with_members("a,b\n",
                     [](const std::string& path) {
                       return RecordChange{path, nullptr};
                     })
            .error()
            .code == "RTG002");
}

TEST_CASE("a scheme's name is made of what the wheel says of itself") {
  const auto name = named("tiny-2.2.0+cu130torch2.11.0-cp312-cp312-linux_x86_64.whl");
  const auto known = known_facts(name, k_said, {});
  CHECK(known.from == "sagekit.json");
  const auto made = [&](std::string_view scheme) {
    return retagged_name(name, with_scheme(scheme), known).value().file_name();
  };
  CHECK(made("build-tag") == "tiny-2.2.0-2110.130-cp312-cp312-linux_x86_64.whl");
  CHECK(made("default") == "tiny-2.2.0+cu130.torch2.11.20260117.gd1a57a5-cp312-cp312-linux_x86_64.whl");
  CHECK(made("one-arch") == "tiny-2.2.0+cu130.torch2.11.0.sm90a.sm120-cp312-cp312-linux_x86_64.whl");
  // What its torch's strings are is known of Linux alone.
  CHECK(made("abi-flag") == "tiny-2.2.0+cu13torch2.11cxx11abitrue-cp312-cp312-linux_x86_64.whl");
  const auto windows = named("tiny-2.2.0+cu130torch2.11.0-cp312-cp312-win_amd64.whl");
  CHECK(retagged_name(windows, with_scheme("abi-flag"), known_facts(windows, "", {})).error().code == "NAM011");
  const auto said = named("tiny-2.2.0+cu128torch2.7cxx11abiFALSE-cp310-cp310-win_amd64.whl");
  CHECK(retagged_name(said, with_scheme("abi-flag-minor"), known_facts(said, "", {})).value().version ==
        "2.2.0+cu128torch2.7cxx11abifalse");
  const auto pinned =
      known_facts(named("tiny-2.2.0-cp312-cp312-linux_x86_64.whl"), "", {"torch==2.8.*; os_name == \"nt\""});
  CHECK(pinned.facts.torch == "2.8");
  CHECK(pinned.torch_from == "Requires-Dist");
  const auto nothing = known_facts(named("tiny-2.2.0-cp312-cp312-linux_x86_64.whl"), "{}", {"torch>=2"});
  CHECK((nothing.from + nothing.torch_from).empty());
  CHECK(
      retagged_name(named("tiny-2.2.0-cp312-cp312-linux_x86_64.whl"), with_scheme("build-tag"), nothing).error().code ==
      "RTG005");
}

TEST_CASE("a name that says what the wheel is not is refused") {
  const auto before = named("tiny-2.2.0-cp312-cp312-linux_x86_64.whl");
  const auto known = known_facts(before, k_said, {});
  const auto check = [&](std::string_view version_and_build) {
    return code_of(check_new_name(
        before, named("tiny-" + std::string(version_and_build) + "-cp312-cp312-linux_x86_64.whl"), known));
  };
  for (const char* truth : {"2.2.0+cu130torch2.11.0", "2.2.0+cu13", "2.2.0+torch2.11", "2.2.0-2110.130", "2.2.0-1",
                            "2.2.0+mine", "2.2.0+cu130.torch2.11.20260117.gd1a57a5.sm90a.sm120ptx"})
    CHECK_MESSAGE(check(truth).empty(), truth);
  for (const char* lie :
       {"2.2.0+cu130torch2.11.1", "2.2.0+cu12", "2.2.0+torch2.9", "2.2.0-2100.130", "2.2.0+mine-2100.130",
        "2.2.0+cu130torch2.11.0andhigher", "2.2.0+cu130.torch2.11.20260118.gd1a57a5",
        "2.2.0+cu130.torch2.11.20260117.gd1a57a6", "2.2.0+cu130.torch2.11.20260117.gd1a57a5.sm90a"})
    CHECK_MESSAGE(check(lie) == "RTG004", lie);
}

TEST_CASE("of a name with two readings what both say is known") {
  const auto before = named("tiny-2.2.0-2311.130-cp312-cp312-linux_x86_64.whl");  // torch 2.31.1 or 2.3.11
  const auto known = known_facts(before, "", {});
  CHECK(known.facts.cuda == "13.0");
  CHECK(retagged_name(before, with_scheme("cuda"), known).value().version == "2.2.0+cu130");
  CHECK(retagged_name(before, with_scheme("build-tag"), known).error().code == "RTG005");
  const auto lie = check_new_name(before, named("tiny-2.2.0+cu128-cp312-cp312-linux_x86_64.whl"), known);
  CHECK(lie.error().message.find("and the name it has says 13.0") != std::string::npos);
}

TEST_CASE("a project's own rows are heard where names are read") {
  const std::vector<NamingScheme> rows = {{"house", "{version}+c{cuda_digits}t{torch_digits}"},
                                          {"ours", "{version}+cu{cuda_digits}.{sms}{arches}"}};
  const auto house = named("tiny-2.2.0+c128t271-cp312-cp312-linux_x86_64.whl");
  const auto by_name = known_facts(house, "", {}, rows);
  CHECK(retagged_name(house, with_scheme("local-version"), by_name).value().version == "2.2.0+cu128torch2.7.1");
  CHECK(retagged_name(house, with_scheme("local-version"), known_facts(house, "", {})).error().code == "RTG005");
  const auto before = named("tiny-2.2.0-cp312-cp312-linux_x86_64.whl");
  const auto known = known_facts(before, k_said, {}, rows);
  CHECK(code_of(check_new_name(before, house, known, rows)) == "RTG004");
  CHECK(code_of(check_new_name(before, house, known)).empty());
  const auto ours = named("tiny-2.2.0+cu130.sm90a.sm120sm90a.sm120ptx-42-cp312-cp312-linux_x86_64.whl");
  CHECK(code_of(check_new_name(before, ours, known, rows)).empty());
}

TEST_CASE("a tag of a Python that Requires-Python excludes is refused") {
  const auto check = [](std::string_view tags, const char* requires_python) {
    return code_of(check_python(named("tiny-1.0-" + std::string(tags) + "-any.whl"), requires_python));
  };
  for (const char* tags : {"cp27-none", "py2-none", "cp38-cp38", "cp37.cp38-none"})
    CHECK_MESSAGE(check(tags, ">=3.9") == "RTG004", tags);
  for (const char* tags : {"cp39-none", "py3-none", "py2.py3-none", "cp36-abi3", "py36-none", "cp38.cp39-none"})
    CHECK_MESSAGE(check(tags, ">=3.9").empty(), tags);
  CHECK(check("cp39-cp39", ">=3.9.2").empty());
  CHECK(check("cp312-cp312", "<3.12") == "RTG004");
  CHECK(check("cp312-abi3", "<3.12") == "RTG004");
  CHECK(check("cp312-cp312", "no rule").empty());
}

TEST_CASE("a variant promises the GPUs and the driver that were measured") {
  WheelReport report;
  report.runs_on = {runs(8, 9, RunVerdict::no), runs(9, 0, RunVerdict::yes), runs(12, 0, RunVerdict::yes),
                    runs(12, 1, RunVerdict::no)};
  const std::vector<MemberFacts> members = {
      gpu_module({code_for(9, 0, false, "13.0"), code_for(12, 0, false, "13.1")})};
  const auto made = variant_of(report, members, "").value();
  CHECK(made.label == "cu130_sm90_120");
  const auto text = read_variant(made.text);
  CHECK(text.faults.empty());
  CHECK(text.format == "0.1.1");
  const auto& nvidia = text.variants.at(made.label).at("nvidia");
  CHECK(nvidia.at("sm_arch") == std::vector<std::string>{"120_real", "90_real"});
  CHECK(nvidia.at("cuda_version_lower_bound") == std::vector<std::string>{"13.0"});
  REQUIRE(made.notes.size() == 1);  // 12.1 would choose it by 120_real
  CHECK(made.notes[0].find("12.1") != std::string::npos);

  report.runs_on = {runs(12, 0, RunVerdict::jit)};  // PTX: the driver must know the toolkit that wrote it
  const auto ptx = variant_of(report, {gpu_module({code_for(12, 0, true, "13.1")})}, "mine").value();
  const auto of_ptx = read_variant(ptx.text).variants.at("mine").at("nvidia");
  CHECK(of_ptx.at("sm_arch") == std::vector<std::string>{"120_virtual"});
  CHECK(of_ptx.at("cuda_version_lower_bound") == std::vector<std::string>{"13.1"});
  CHECK(variant_of(report, {gpu_module({code_for(12, 0, true, "13.1")})}, "No-Label").error().code == "RTG007");
  CHECK(variant_of(report, {}, "").error().code == "RTG009");
  report.runs_on = {runs(12, 0, RunVerdict::no)};
  CHECK(variant_of(report, members, "").error().code == "RTG009");
}
