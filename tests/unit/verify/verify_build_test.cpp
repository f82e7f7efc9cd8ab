#include "unit/verify/fixture.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

struct Tampered {
  std::string code;
  std::function<void(DemoBuild&)> change;
};

void replace_module(DemoBuild& demo, const std::string& name, const ModuleBuilder& module) {
  demo.files[name + k_suffix] = module.build();
}

std::vector<Tampered> tampered() {
  const auto a = [](auto change) {
    return [change](DemoBuild& demo) {
      auto module = demo_module("_a", {{80, 0}, {90, 'a'}});
      change(module);
      replace_module(demo, "demo/_a", module);
    };
  };
  return {
      {"CNT001", [](DemoBuild& d) { d.files["demo/csrc/a.cu"] = "x"; }},
      {"CNT001", [](DemoBuild& d) { d.files["demo/__pycache__/x.cpython-312.pyc"] = "x"; }},
      {"CNT002", [](DemoBuild& d) { d.files.erase("demo/_b" + k_suffix); }},
      {"CNT003", [](DemoBuild& d) { d.files.erase("demo/__init__.py"); }},
      {"CNT005", [](DemoBuild& d) { d.files["tests/test_demo.py"] = "x"; }},
      {"CNT006", [](DemoBuild& d) { replace_module(d, "demo/_c", demo_module("_c", {{80, 0}})); }},
      {"ELF001", a([](ModuleBuilder& m) { m.machine = 183; })},
      {"ELF002", a([](ModuleBuilder& m) { m.needed.push_back("libcudnn.so.9"); })},
      {"ELF002", a([](ModuleBuilder& m) { m.needed.push_back("libpython3.12.so.1.0"); })},
      {"ELF003", a([](ModuleBuilder& m) { m.runpath = "$ORIGIN:/opt/torch/lib"; })},
      {"ELF003", a([](ModuleBuilder& m) { m.runpath = "$ORIGIN:"; })},
      {"ELF004", a([](ModuleBuilder& m) { m.stack_flags = {7}; })},
      {"FAT101", a([](ModuleBuilder& m) { m.more = {fatbin_section({{80, 0}})}; })},
      {"FAT101", a([](ModuleBuilder& m) { m.more = {fatbin_section({{80, 0}, {90, 0}})}; })},  // 9.0 is not 9.0a
      {"FAT102", a([](ModuleBuilder& m) { m.more = {fatbin_section({{80, 0}, {90, 'a'}, {120, 0}})}; })},
      {"FAT103", a([](ModuleBuilder& m) { m.more.clear(); })},
      {"FAT104", a([](ModuleBuilder& m) { m.more = {fatbin_section({{80, 0}, {90, 'a'}}, {80})}; })},
      {"LBC002", a([](ModuleBuilder& m) { m.versions = {{"libc.so.6", {"GLIBC_2.38"}}}; })},
      {"PYA001",
       [](DemoBuild& d) {
         d.files["demo/_a.cpython-311-x86_64-linux-gnu.so"] = d.files["demo/_a" + k_suffix];
         d.files.erase("demo/_a" + k_suffix);
       }},
      {"PYA001",
       [](DemoBuild& d) {
         d.files["demo/_a.so"] = d.files["demo/_a" + k_suffix];
         d.files.erase("demo/_a" + k_suffix);
       }},
      {"PYA002", a([](ModuleBuilder& m) { m.exports = {"PyInit__other"}; })},
      {"RUN001", a([](ModuleBuilder& m) { m.more = {fatbin_section({{80, 0}})}; })},
      {"TRU001", [](DemoBuild& d) { d.files["demo/ops.py"] = "def run(): pass\n@fake\ndef run(): pass\n"; }},
      {"TRU001", [](DemoBuild& d) { d.build.commit = "2222222222222222222222222222222222222222"; }},
  };
}

}  // namespace

TEST_CASE("the right build is verified, and every rule that could be checked says pass") {
  DemoBuild demo;
  const auto report = judge_build(demo, demo_spec());
  CAPTURE(failures(report));
  CHECK(report.pass);
  for (const auto* code :
       {"CNT001", "CNT002", "CNT003", "CNT005", "CNT006", "CNT007", "ELF001", "ELF002", "ELF003", "ELF004",
        "ELF005", "ELF006", "FAT101", "FAT102", "FAT103", "FAT104", "FAT105", "LBC001", "LBC002", "LBC003",
        "NAM101", "NAM102", "NAM103", "PYA001", "PYA002", "RUN001", "RUN002", "TRU001"}) {
    CAPTURE(code);
    CHECK(passed(report, code));
  }
}

TEST_CASE("each fault fails the build under its own code") {
  const Spec spec = demo_spec();
  for (const auto& fault : tampered()) {
    CAPTURE(fault.code);
    DemoBuild demo;
    fault.change(demo);
    const auto report = judge_build(demo, spec);
    CAPTURE(failures(report));
    CHECK_FALSE(report.pass);
    const auto found = trouble(report, fault.code);
    REQUIRE_FALSE(found.empty());
    CHECK(found[0].result == FindingResult::fail);
    CHECK_FALSE(found[0].message.empty());
  }
}

TEST_CASE("a file that changed after it was built fails the build") {
  DemoBuild demo;
  const auto folder = scratch();
  demo.stage(folder.path());
  REQUIRE(write_file_atomic(demo.build.files[0].file, "something else\n"));
  ScriptedRunner runner;
  const auto verdict = verify_build(demo_spec(), nullptr, demo.build, {}, runner);
  REQUIRE(verdict);
  REQUIRE_FALSE(*verdict);
  CHECK_FALSE(trouble(verdict->error(), "CNT007").empty());
}

TEST_CASE("a module that is damaged fails the build") {
  for (const auto* bytes : {"not a module at all",
                            "\x7f"
                            "ELF cut off"}) {
    DemoBuild demo;
    demo.files["demo/_a" + k_suffix] = bytes;
    CHECK_FALSE(judge_build(demo, demo_spec()).pass);
  }
}

TEST_CASE("debug information warns") {
  DemoBuild demo;
  auto module = demo_module("_a", {{80, 0}, {90, 'a'}});
  module.more.push_back({".debug_info", "x", 1, 0});
  replace_module(demo, "demo/_a", module);
  const auto report = judge_build(demo, demo_spec());
  CHECK(report.pass);
  REQUIRE_FALSE(trouble(report, "ELF005").empty());
  CHECK(trouble(report, "ELF005")[0].result == FindingResult::warn);
}

TEST_CASE("code outside the section that the CUDA runtime reads is said") {
  DemoBuild demo;
  auto module = demo_module("_a", {});
  auto section = fatbin_section({{80, 0}, {90, 'a'}});
  section.name = "__nv_relfatbin";
  module.more = {section};
  replace_module(demo, "demo/_a", module);
  const auto report = judge_build(demo, demo_spec());
  CHECK_FALSE(report.pass);
  CHECK_FALSE(trouble(report, "FAT105").empty());
  CHECK_FALSE(trouble(report, "FAT103").empty());
}

TEST_CASE("a cell for one arch needs only that arch's modules, with that code") {
  DemoBuild demo;
  demo.build.cell.arches = {{{8, 0}, false, ArchSuffix::none, false}};
  demo.files.erase("demo/_b" + k_suffix);
  replace_module(demo, "demo/_a", demo_module("_a", {{80, 0}}));
  demo.files["demo/raw.so"] = demo_module("", {{80, 0}}).build();
  const auto report = judge_build(demo, demo_spec());
  CAPTURE(failures(report));
  CHECK(report.pass);
  CHECK(row(report, {8, 0}).verdict == RunVerdict::yes);
  CHECK(row(report, {9, 0}).verdict == RunVerdict::no);
}

TEST_CASE("PTX is wanted where it was asked for, and only in modules that take it") {
  DemoBuild demo;
  demo.build.cell.arches[0].ptx = true;
  const auto without = judge_build(demo, demo_spec());
  CHECK_FALSE(trouble(without, "FAT104").empty());
  auto module = demo_module("_a", {});
  module.more = {fatbin_section({{80, 0}, {90, 'a'}}, {80})};
  replace_module(demo, "demo/_a", module);
  const auto with = judge_build(demo, demo_spec());
  CAPTURE(failures(with));
  CHECK(with.pass);
  CHECK(row(with, {12, 0}).verdict == RunVerdict::jit);
}

TEST_CASE("the table says what runs where, and why not") {
  DemoBuild demo;
  const auto report = judge_build(demo, demo_spec());
  CHECK(row(report, {8, 0}).verdict == RunVerdict::yes);
  CHECK(row(report, {8, 0}).modules == std::vector<std::string>{"demo._a"});
  CHECK(row(report, {8, 0}).reason == "the first kernel");
  CHECK(row(report, {8, 6}).verdict == RunVerdict::yes);  // Triton only
  CHECK(row(report, {8, 6}).modules.empty());
  CHECK(row(report, {8, 9}).verdict == RunVerdict::yes);  // 8.0 code on 8.9
  CHECK(row(report, {9, 0}).verdict == RunVerdict::yes);
  CHECK(row(report, {10, 0}).verdict == RunVerdict::no);
  CHECK(row(report, {10, 0}).reason.find("refuses") != std::string::npos);
  CHECK(row(report, {10, 0}).decided_by == RunReason::refused);
  CHECK(row(report, {12, 0}).verdict == RunVerdict::no);  // 9.0a does not run on 12.0
  CHECK(row(report, {12, 0}).reason.find("_a") != std::string::npos);
  CHECK(row(report, {12, 0}).decided_by == RunReason::modules);
  CHECK(row(report, {12, 1}).reason.find("no branch") != std::string::npos);
  CHECK(row(report, {12, 1}).decided_by == RunReason::no_branch);
  CHECK_FALSE(row(report, {9, 0}).gpus.empty());
}

TEST_CASE("a GPU that the package itself refuses is a warning, not a failure") {
  DemoBuild demo;
  demo.build.cell.arches.push_back({{10, 0}, true, ArchSuffix::a, false});
  const auto report = judge_build(demo, demo_spec());
  CHECK_FALSE(trouble(report, "RUN002").empty());
  CHECK(trouble(report, "RUN001").empty());
}

TEST_CASE("a known defect is no pass for the GPUs it hurts, and none of the others' business") {
  DemoBuild demo;
  demo.files["demo/ops.py"] = "def run(): pass\ndef run(): pass\n";
  const auto report = judge_build(demo, demo_spec());
  CHECK(row(report, {9, 0}).verdict == RunVerdict::no);
  CHECK(row(report, {9, 0}).reason.find("twice") != std::string::npos);
  CHECK(row(report, {9, 0}).decided_by == RunReason::defect);
  CHECK(row(report, {8, 0}).verdict == RunVerdict::yes);

  VerifyOptions waive;
  waive.allowed_defects = {"twice"};
  const auto waived = judge_build(demo, demo_spec(), waive);
  CHECK(waived.pass);
  REQUIRE_FALSE(trouble(waived, "TRU001").empty());
  CHECK(trouble(waived, "TRU001")[0].result == FindingResult::waived);

  demo.build.cell.arches = {{{8, 0}, false, ArchSuffix::none, false}};
  CHECK(trouble(judge_build(demo, demo_spec()), "TRU001").empty());
}

TEST_CASE("a family whose check was skipped fails when it is required") {
  DemoBuild demo;
  CHECK(trouble(judge_build(demo, demo_spec()), "IMP001")[0].result == FindingResult::skipped);
  VerifyOptions options;
  options.require = {"IMP"};
  const auto report = judge_build(demo, demo_spec(), options);
  CHECK_FALSE(report.pass);
  CHECK(trouble(report, "IMP001")[0].result == FindingResult::fail);
}
