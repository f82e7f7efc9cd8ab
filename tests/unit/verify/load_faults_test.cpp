// What a finding of each code makes of the table: a module that does not load, a package that cannot be imported, a
// wheel that pip does not install.
#include "support/wheel_builder.hpp"
#include "unit/verify/fixture.hpp"
#include "verify/finding_list.hpp"
#include "verify/runs_on.hpp"

#include <functional>
#include <set>

using namespace sagekit;
using namespace sagekit::test;

namespace {

struct ModuleFault {
  std::string code;
  RunVerdict verdict;
};

const std::vector<ModuleFault> k_module_faults{
    {"CNT007", RunVerdict::unknown}, {"CNT017", RunVerdict::no},      {"ELF001", RunVerdict::no},
    {"ELF006", RunVerdict::no},      {"ELF007", RunVerdict::no},      {"ELF010", RunVerdict::no},
    {"IMP001", RunVerdict::no},      {"IMP002", RunVerdict::no},      {"IMP003", RunVerdict::no},
    {"IMP004", RunVerdict::no},      {"INF016", RunVerdict::unknown}, {"INF017", RunVerdict::unknown},
    {"LBC006", RunVerdict::no},      {"PYA001", RunVerdict::no},      {"PYA002", RunVerdict::no},
    {"PYA005", RunVerdict::no},      {"PYA006", RunVerdict::no},      {"TAB001", RunVerdict::no},
    {"TAB004", RunVerdict::no},
};

/// Modules with code for 9.0, whose names say the one Python of the file's tags.
Artifact package_with(const std::vector<std::string>& modules) {
  Artifact artifact;
  artifact.name.python = {"cp311"};
  artifact.name.abi = {"cp311"};
  for (const auto& name : modules) {
    MemberFacts member;
    member.path = "tiny/" + name + k_suffix;
    member.python_abi = "cp312";
    member.elf = ElfFacts{};
    GpuCode code;
    code.arch = Arch{{9, 0}};
    code.count = 1;
    code.toolkit = "12.8";
    member.gpu = {code};
    artifact.members.push_back(member);
  }
  return artifact;
}

Finding found(const std::string& code, const std::string& where, FindingResult result = FindingResult::fail,
              const std::string& message = "it is broken") {
  return {code, Severity::error, result, message, where, {}};
}

const RunsOn& row_90(const std::vector<RunsOn>& table) {
  const auto place = std::ranges::find(table, Capability{9, 0}, &RunsOn::capability);
  REQUIRE(place != table.end());
  return *place;
}

const std::string k_module_a = "tiny/_a" + k_suffix;

}  // namespace

TEST_CASE("each fault of a module lowers the rows of the GPUs that it has code for") {
  const auto alone = package_with({"_a"}), with_another = package_with({"_a", "_b"});
  REQUIRE(row_90(runs_on(alone, {})).verdict == RunVerdict::yes);
  for (const auto& [code, verdict] : k_module_faults) {
    CAPTURE(code);
    for (const auto result : {FindingResult::fail, FindingResult::warn}) {
      const auto row = row_90(runs_on(alone, {found(code, k_module_a, result)}));
      CHECK(row.verdict == verdict);
      const auto why = verdict == RunVerdict::no ? "_a does not load (" : "_a is not the file that was built (";
      CHECK_MESSAGE(row.reason.starts_with(why + code + ": it is broken)"), row.reason);
      CHECK(row.failing == std::vector<std::string>{"tiny._a"});
    }
    const auto part = row_90(runs_on(with_another, {found(code, k_module_a)}));
    CHECK(part.verdict == RunVerdict::part);
    CHECK(part.failing == std::vector<std::string>{"tiny._a"});
    CHECK(part.modules == std::vector<std::string>{"tiny._b"});
    for (const auto& row : runs_on(with_another, {found(code, k_module_a), found(code, "tiny/_b" + k_suffix)}))
      CHECK(row.verdict != RunVerdict::yes);
  }
}

TEST_CASE("of several faults of a module the worst decides, in whatever order they were found") {
  const auto artifact = package_with({"_a"});
  for (const auto& first : k_module_faults)
    for (const auto& second : k_module_faults) {
      CAPTURE(first.code);
      CAPTURE(second.code);
      const auto row = row_90(runs_on(artifact, {found(first.code, k_module_a), found(second.code, k_module_a)}));
      CHECK(row.verdict == std::min(first.verdict, second.verdict));
    }
}

TEST_CASE("what passed, was not checked or is about another file lowers nothing") {
  const auto artifact = package_with({"_a"});
  for (const auto& fault : k_module_faults) {
    CAPTURE(fault.code);
    for (const auto& one :
         {found(fault.code, k_module_a, FindingResult::pass), found(fault.code, k_module_a, FindingResult::skipped),
          found(fault.code, k_module_a, FindingResult::fail, std::string(k_not_made) + "no Python"),
          found(fault.code, "tiny/data.txt"), found("FAT103", k_module_a)})
      CHECK(row_90(runs_on(artifact, {one})).verdict == RunVerdict::yes);
  }
}

TEST_CASE("what keeps the package from being imported is every row's reason") {
  const auto artifact = package_with({"_a"});
  for (const std::string code : {"CNT003", "IMP001", "IMP002", "IMP003", "IMP004"}) {
    CAPTURE(code);
    for (const std::string where : {"tiny", "tiny/__init__.py"}) {
      const auto why = unusable(artifact, {found(code, where)});
      CHECK(why == "the package cannot be imported (" + code + ": it is broken)");
      auto table = runs_on(artifact, {found(code, where)});
      lower_all(table, why);
      REQUIRE_FALSE(table.empty());
      for (const auto& row : table) CHECK((row.verdict == RunVerdict::no && row.reason == why));
    }
    CHECK(unusable(artifact, {found(code, "tiny", FindingResult::skipped)}).empty());
    CHECK(unusable(artifact, {found(code, k_module_a)}).empty());  // another may load
  }
  CHECK(unusable(artifact, {found("CNT002", "tiny")}).empty());
}

namespace {

struct InstallFault {
  std::string code;
  std::function<void(WheelBuilder&)> wheel = [](WheelBuilder&) {};
  std::function<void(ZipBuilder&)> zip = [](ZipBuilder&) {};
};

InstallFault named(const std::string& code, const std::string& file_name) {
  return {code, [file_name](WheelBuilder& wheel) { wheel.file_name = file_name; }};
}

InstallFault with_file(const std::string& code, const std::string& path, const std::string& text = "x") {
  return {code, [path, text](WheelBuilder& wheel) { wheel.files.emplace_back(path, text); }};
}

InstallFault replaced(const std::string& code, std::string WheelBuilder::*text, const std::string& old,
                      const std::string& now) {
  return {code, [=](WheelBuilder& wheel) { (wheel.*text).replace((wheel.*text).find(old), old.size(), now); }};
}

InstallFault framed(const std::string& code, std::function<void(ZipBuilder&)> change) {
  return {code, [](WheelBuilder&) {}, std::move(change)};
}

WheelReport judged_with(const InstallFault& fault) {
  WheelBuilder wheel;
  auto module = demo_module("_k", {{90, 0}});
  module.undefined = {"PyModule_Create2"};
  wheel.files.emplace_back("tiny_kernels/_k" + k_suffix, module.build());
  fault.wheel(wheel);
  auto zip = wheel.zip();
  fault.zip(zip);
  const auto folder = scratch();
  const auto file = folder.path() / wheel.file_name;
  REQUIRE(write_file_atomic(file, zip.build()));
  ScriptedRunner runner;
  const auto report = verify_wheel(file, "", {}, {}, runner);
  if (!report) FAIL(report.error().message);
  return *report;
}

/// Each of these pip 26.3 refuses, of whatever code it is one of several faults.
std::vector<InstallFault> refused_faults() {
  const std::string dist_info = "tiny_kernels-1.2.0.dist-info/";
  return {
      named("NAM001", "tiny_kernels.zip"),
      named("NAM002", "tiny_kernels-1.2.0-cp312-linux_x86_64.whl"),
      named("NAM003", "tiny__kernels-1.2.0-cp312-cp312-linux_x86_64.whl"),
      named("NAM004", "tiny_kernels-1.2.0_1-cp312-cp312-linux_x86_64.whl"),
      named("NAM005", "tiny_kernels-1.2.0-cu128-cp312-cp312-linux_x86_64.whl"),
      named("NAM006", "tiny_kernels-1.2.0-cp312-cp312-linux_x86_64 (1).whl"),
      named("NAM106", "tiny_kernels-1.2.0-312-cp312-linux_x86_64.whl"),
      named("NAM107", "tiny_kernels-1.2.0-cp311-cp312-linux_x86_64.whl"),
      {"INF001", [](WheelBuilder& wheel) { wheel.folder = "tiny_kernels-1.2.0.egg-info"; }},
      with_file("INF002", "other-1.dist-info/METADATA"),
      {"INF004", [](WheelBuilder& wheel) { wheel.with_metadata = false; }},
      replaced("INF006", &WheelBuilder::metadata, "tiny-kernels", "other"),
      {"INF007", [](WheelBuilder& wheel) { wheel.with_wheel = false; }},
      replaced("INF008", &WheelBuilder::wheel, "1.0", "2.0"),
      {"INF011", [](WheelBuilder& wheel) { wheel.with_record = false; }},
      {"INF025", [](WheelBuilder& wheel) { wheel.folder = "other-1.2.0.dist-info"; }},
      replaced("INF111", &WheelBuilder::metadata, "numpy", "numpy)"),
      with_file("INF123", dist_info + "entry_points.txt", "[console_scripts]\n../x = tiny_kernels:main\n"),
      with_file("INF127", "tiny_kernels-1.2.0.data/odd/x"),
      framed("ZIP008", [](ZipBuilder& zip) { zip.entries[0].local_signature = 7; }),
      with_file("ZIP012", "../x.py"),
      with_file("ZIP012", "/x.py"),
      framed("ZIP015", [](ZipBuilder& zip) { zip.entries[0].flags = 1; }),
      framed("ZIP018",
             [](ZipBuilder& zip) {
               zip.entries[1] = zip.entries[0];
               zip.entries[1].local_offset = 0;
             }),
      framed("ZIP023", [](ZipBuilder& zip) { zip.entries[0].crc = 1; }),
      with_file("ZIP026", "tiny_kernels", ""),
      with_file("ZIP027", std::string(2000, 'x')),
  };
}

}  // namespace

TEST_CASE("a wheel that pip does not install runs nowhere") {
  std::set<std::string> codes;
  for (const auto& fault : refused_faults()) {
    CAPTURE(fault.code);
    codes.insert(fault.code);
    const auto report = judged_with(fault);
    CHECK_FALSE(trouble(report, fault.code).empty());
    // Those for which it has no code are no exception: a reader would take the others for the ones that it runs on.
    for (const auto& one : report.runs_on) CHECK((one.verdict == RunVerdict::no && one.reason == report.unusable));
    CHECK_MESSAGE(report.unusable.starts_with("pip does not install it (" + fault.code), report.unusable);
  }
  CHECK(codes.size() == 26);
}

TEST_CASE("of faults that pip refuses some of only, the others leave the table as it is") {
  for (const auto& fault : {
           replaced("INF006", &WheelBuilder::metadata, "1.2.0", "1.2.1"),  // METADATA's counts
           replaced("INF008", &WheelBuilder::wheel, "false", "maybe"),
           named("INF025", "tiny_kernels-1.3.0-cp312-cp312-linux_x86_64.whl"),
           with_file("INF123", "tiny_kernels-1.2.0.dist-info/entry_points.txt",
                     "[console_scripts]\na:b = tiny_kernels:main\n"),
           with_file("INF127", "other-1.2.0.data/purelib/x"),
           with_file("ZIP012", "tiny_kernels\\x.py"),
           with_file("ZIP012", "tiny_kernels/../tiny_kernels/x.py"),
       }) {
    CAPTURE(fault.code);
    const auto report = judged_with(fault);
    CHECK_FALSE(trouble(report, fault.code).empty());
    CHECK(report.unusable.empty());
    CHECK(row(report, {9, 0}).verdict == RunVerdict::yes);
  }
}
