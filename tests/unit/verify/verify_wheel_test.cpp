#include "support/json.hpp"
#include "support/wheel_builder.hpp"
#include "unit/verify/fixture.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

/// Somebody's wheel of a package that no plugin makes.
WheelBuilder foreign_wheel() {
  WheelBuilder wheel;
  auto module = demo_module("_k", {{80, 0}, {90, 'a'}});
  wheel.files.emplace_back("tiny_kernels/_k" + k_suffix, module.build());
  auto more = demo_module("_m", {});
  more.more = {fatbin_section({{90, 'a'}}, {90})};
  wheel.files.emplace_back("tiny_kernels/_m" + k_suffix, more.build());
  return wheel;
}

WheelReport judge_wheel(const WheelBuilder& wheel, const VerifyOptions& options = {},
                        const std::string& final_name = "") {
  const auto folder = scratch();
  const auto file = folder.path() / wheel.file_name;
  REQUIRE(write_file_atomic(file, wheel.zip().build()));
  ScriptedRunner runner;
  const auto report = verify_wheel(file, final_name, {}, options, runner);
  if (!report) FAIL(report.error().message);
  return *report;
}

}  // namespace

TEST_CASE("a stranger's right wheel passes; what needs a plugin is skipped, and says so") {
  const auto report = judge_wheel(foreign_wheel());
  CAPTURE(failures(report));
  CHECK(report.pass);
  CHECK(report.sha256.size() == 64);
  for (const auto* code : {"ZIP100", "INF100", "INF101", "INF104", "INF129", "NAM101", "ELF001", "PYA001", "PYA002"}) {
    CAPTURE(code);
    CHECK(passed(report, code));
  }
  for (const auto* code : {"CNT002", "CNT003", "FAT101", "FAT102", "FAT103", "FAT104", "RUN001", "TRU001", "IMP001"}) {
    CAPTURE(code);
    REQUIRE_FALSE(trouble(report, code).empty());
    CHECK(trouble(report, code)[0].result == FindingResult::skipped);
    CHECK_FALSE(trouble(report, code)[0].message.empty());
  }
}

TEST_CASE("what a spec says of its revisions is not said of a source that it does not know") {
  using enum FindingResult;
  const auto judge_demo = [](const std::string& version, const std::string& ops, const std::string& more_toml) {
    WheelBuilder wheel = foreign_wheel();
    wheel.file_name = "demo-" + version + "-py3-none-any.whl";
    wheel.folder = "demo-" + version + ".dist-info";
    wheel.metadata = "Metadata-Version: 2.4\nName: demo\nVersion: " + version + "\n\nA test.\n";
    wheel.files = {{"demo/__init__.py", ""}, {"demo/ops.py", ops}};
    const auto folder = scratch();
    const auto file = folder.path() / wheel.file_name;
    REQUIRE(write_file_atomic(file, wheel.zip().build()));
    ScriptedRunner runner;
    const auto spec = demo_spec(k_demo_toml + more_toml);
    const auto verdict = verify_own_wheel(file, "", spec, nullptr, {}, runner);
    if (!verdict) FAIL(verdict.error().message);
    return *verdict ? (*verdict)->report() : verdict->error();
  };
  const auto is_known = [](const WheelReport& report) {
    const auto defect = trouble(report, "TRU001"), runs = trouble(report, "RUN001");
    if (!report.runs_on.empty()) return defect.empty();
    REQUIRE(defect.size() == 1);
    CHECK(defect[0].result == skipped);
    CHECK(defect[0].message == "its source is none that the plugin demo knows");
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].message.starts_with("dispatch not known"));
    return false;
  };
  // By its version, where the spec has nothing better.
  CHECK(is_known(judge_demo("1.2.0", "", "")));
  CHECK(is_known(judge_demo("1.1.0.post3+cu128torch2.8", "", "")));
  CHECK_FALSE(is_known(judge_demo("1.0.6", "", "")));
  CHECK_FALSE(is_known(judge_demo("1.2.1", "", "")));
  // By its content, whatever it calls itself.
  const std::string prints =
      "[[source.fingerprint]]\nfile = \"demo/ops.py\"\ntext = \"arch ==\"\ncount = 2\nsource = \"x\"\n";
  CHECK(is_known(judge_demo("9.9", "arch == 1\narch == 2\n", prints)));
  CHECK_FALSE(is_known(judge_demo("1.2.0", "arch == 1\n", prints)));
  CHECK_FALSE(is_known(judge_demo("1.2.0", "arch == 1\narch == 2\narch == 3\n", prints)));
  // A defect that its files show is one, whoever made it.
  const auto twice = judge_demo("1.0.6", "def f(): pass\ndef f(): pass\n", "");
  CHECK(trouble(twice, "TRU001").size() == 1);
}

TEST_CASE("arches that were recorded for a source that nobody knows are held against no module") {
  const auto judge = [](const std::string& commit) {
    WheelBuilder wheel;
    wheel.file_name = "demo-1.0.6-py3-none-any.whl";
    wheel.folder = "demo-1.0.6.dist-info";
    wheel.metadata = "Metadata-Version: 2.4\nName: demo\nVersion: 1.0.6\n\nA test.\n";
    wheel.files.emplace_back("demo/_a" + k_suffix, demo_module("_a", {{80, 0}}).build());
    wheel.files.emplace_back(
        wheel.folder + "/sagekit.json",
        R"({"schema":"sagekit.provenance/1","arches":["8.0","9.0a"],"source":{"commit":")" + commit + R"("}})");
    const auto folder = scratch();
    const auto file = folder.path() / wheel.file_name;
    REQUIRE(write_file_atomic(file, wheel.zip().build()));
    ScriptedRunner runner;
    const auto verdict = verify_own_wheel(file, "", demo_spec(), nullptr, {}, runner);
    if (!verdict) FAIL(verdict.error().message);
    return *verdict ? (*verdict)->report() : verdict->error();
  };
  const auto unknown = judge(std::string(40, 'f'));
  for (const auto* code : {"FAT101", "FAT102", "FAT104"}) {
    CAPTURE(code);
    REQUIRE(trouble(unknown, code).size() == 1);
    CHECK(trouble(unknown, code)[0].result == FindingResult::skipped);
    CHECK(trouble(unknown, code)[0].message == "its source is none that the plugin demo knows");
  }
  CHECK(trouble(unknown, "FAT114")[0].result == FindingResult::skipped);
  // The record names no CUDA: what was built counts all the same, not what could be.
  const auto known = judge(demo_spec().source.revisions[0].commit);
  REQUIRE(trouble(known, "FAT101").size() == 1);
  CHECK(trouble(known, "FAT101")[0].result == FindingResult::fail);
  CHECK(trouble(known, "FAT101")[0].message.find("9.0a") != std::string::npos);
  CHECK(trouble(known, "FAT102").empty());
}

TEST_CASE("without a plugin the code alone says where a wheel can run, and that it is half an answer") {
  const auto report = judge_wheel(foreign_wheel());
  CHECK(row(report, {9, 0}).verdict == RunVerdict::yes);
  CHECK(row(report, {9, 0}).modules.size() == 2);
  CHECK(row(report, {8, 0}).verdict == RunVerdict::part);
  CHECK(row(report, {8, 0}).reason.find("1 of 2") != std::string::npos);
  CHECK(row(report, {8, 0}).failing == std::vector<std::string>{"tiny_kernels._m"});
  CHECK(row(report, {12, 0}).verdict == RunVerdict::part);
  CHECK(row(report, {7, 5}).verdict == RunVerdict::no);
}

TEST_CASE("faults of a stranger's wheel warn, unless they break it for its user") {
  struct Case {
    std::string code;
    FindingResult others, own;
    std::function<void(WheelBuilder&)> change;
  };
  using enum FindingResult;
  const std::vector<Case> cases{
      {"INF009", warn, fail,
       [](WheelBuilder& w) { w.wheel.replace(w.wheel.find("Tag: cp312-cp312-linux"), 22, "Tag: cp312-cp312-winux"); }},
      {"INF101", warn, fail, [](WheelBuilder& w) { w.metadata.replace(w.metadata.find("torch=="), 7, "torch>="); }},
      {"INF101", warn, fail, [](WheelBuilder& w) { w.metadata.replace(w.metadata.find("torch=="), 5, "tortoise"); }},
      {"INF129", warn, fail, [](WheelBuilder& w) { w.wheel.replace(w.wheel.find("false"), 5, "true"); }},
      {"INF016", fail, fail,
       [](WheelBuilder& w) {
         w.record = w.right_record();
         w.files[0].second = "answer = 43\n";
       }},
      {"NAM103", pass, fail,
       [](WheelBuilder& w) {
         w.file_name = "tiny_kernels-1.2.0-cp312.cp311-cp312-linux_x86_64.whl";
         w.wheel += "Tag: cp311-cp312-linux_x86_64\n";
       }},
      {"LBC003", warn, fail,
       [](WheelBuilder& w) {
         w.file_name = "tiny_kernels-1.2.0-cp312-cp312-manylinux_2_5_x86_64.whl";
         w.wheel.replace(w.wheel.find("linux_x86_64"), 12, "manylinux_2_5_x86_64");
       }},
  };
  for (const auto& one : cases) {
    CAPTURE(one.code);
    auto wheel = foreign_wheel();
    one.change(wheel);
    for (const auto& [policy, wanted] : {std::pair{"others", one.others}, std::pair{"own", one.own}}) {
      CAPTURE(policy);
      VerifyOptions options;
      options.policy = policy;
      const auto report = judge_wheel(wheel, options);
      const auto found = std::ranges::find(report.findings, one.code, &Finding::code);
      REQUIRE(found != report.findings.end());
      CHECK(found->result == wanted);
    }
  }
}

TEST_CASE("the public index's rules are judged under its policy only") {
  VerifyOptions pypi;
  pypi.policy = "pypi";
  const auto report = judge_wheel(foreign_wheel(), pypi);
  CHECK_FALSE(report.pass);
  CHECK_FALSE(trouble(report, "NAM104").empty());
  CHECK(passed(report, "NAM105"));
  CHECK(trouble(judge_wheel(foreign_wheel()), "NAM104").empty());

  auto local = foreign_wheel();
  local.file_name = "tiny_kernels-1.2.0+cu130-cp312-cp312-linux_x86_64.whl";
  CHECK_FALSE(trouble(judge_wheel(local, pypi), "NAM105").empty());
}

TEST_CASE("the driver that is needed is that of all modules with code, or not known") {
  const auto report = judge_wheel(foreign_wheel());
  CHECK(row(report, {9, 0}).driver == "580");
  CHECK(row(report, {9, 0}).toolkit == "13.0");
  CHECK(row(report, {7, 5}).driver.empty());
  auto wheel = foreign_wheel();
  FatbinBuilder fatbin;
  CubinBuilder cubin;
  cubin.toolkit = 990;
  fatbin.cubin(90, 'a', cubin.build());
  auto module = demo_module("_n", {});
  module.more = {{".nv_fatbin", fatbin.build(), 1, 0}};
  wheel.files.emplace_back("tiny_kernels/_n" + k_suffix, module.build());
  const auto newer = judge_wheel(wheel);
  CHECK(row(newer, {9, 0}).driver.empty());
  CHECK(row(newer, {9, 0}).toolkit == "99.0");
  CHECK(row(newer, {8, 0}).driver == "580");
}

TEST_CASE("a hash of RECORD that nobody here computes is skipped with the reason, and fails where it is required") {
  WheelBuilder wheel;
  wheel.record = wheel.right_record();
  wheel.record.replace(wheel.record.find("sha256"), 6, "blake2b");
  const auto folder = scratch();
  const auto file = folder.path() / wheel.file_name;
  REQUIRE(write_file_atomic(file, wheel.zip().build()));
  ScriptedRunner runner;
  for (const auto* policy : {"own", "others", "pypi"}) {
    VerifyOptions options;
    options.policy = policy;
    const auto report = verify_wheel(file, "", {}, options, runner);
    REQUIRE(report);
    CHECK(trouble(*report, "INF018").empty());
    for (const auto* code : {"INF016", "INF100"}) {
      const auto found = trouble(*report, code);
      REQUIRE(found.size() == 1);
      CHECK(found[0].result == FindingResult::skipped);
      CHECK(found[0].message == "RECORD hashes tiny_kernels/__init__.py by blake2b, which sagekit does not compute");
      CHECK_FALSE(passed(*report, code));
    }
  }
  VerifyOptions strict;
  strict.require = {"INF"};
  const auto report = verify_wheel(file, "", {}, strict, runner);
  REQUIRE(report);
  CHECK_FALSE(report->pass);
  CHECK(trouble(*report, "INF016").front().result == FindingResult::fail);
}

TEST_CASE("names out of normal form are said") {
  VerifyOptions own;
  own.policy = "own";
  CHECK_FALSE(
      trouble(judge_wheel(foreign_wheel(), own, "Tiny_Kernels-1.2.0-cp312-cp312-linux_x86_64.whl"), "NAM101").empty());
  CHECK_FALSE(trouble(judge_wheel(foreign_wheel(), own, "tiny_kernels-1.2.0RC1-cp312-cp312-linux_x86_64.whl"), "NAM102")
                  .empty());
}

TEST_CASE("a renamed wheel is caught by its inside") {
  CHECK_FALSE(judge_wheel(foreign_wheel(), {}, "tiny_kernels-1.3.0-cp312-cp312-linux_x86_64.whl").pass);
  CHECK_FALSE(judge_wheel(foreign_wheel(), {}, "other-1.2.0-cp312-cp312-linux_x86_64.whl").pass);
  const auto report = judge_wheel(foreign_wheel(), {}, "tiny_kernels-1.2.0-cp311-cp311-linux_x86_64.whl");
  CHECK_FALSE(trouble(report, "PYA001").empty());
  const auto arm = judge_wheel(foreign_wheel(), {}, "tiny_kernels-1.2.0-cp312-cp312-linux_aarch64.whl");
  CHECK_FALSE(trouble(arm, "ELF001").empty());
  const auto windows = judge_wheel(foreign_wheel(), {}, "tiny_kernels-1.2.0-cp312-cp312-win_amd64.whl");
  CHECK_FALSE(trouble(windows, "ELF006").empty());
}

TEST_CASE("a file that is no archive has a report with the reason; one that is not there is an error") {
  const auto folder = scratch();
  const auto file = folder.path() / "x-1.0-py3-none-any.whl";
  REQUIRE(write_file_atomic(file, "PK\x03\x04 cut off"));
  ScriptedRunner runner;
  const auto report = verify_wheel(file, "", {}, {}, runner);
  REQUIRE(report);
  CHECK_FALSE(report->pass);
  REQUIRE(report->findings.size() == 1);
  const auto none = verify_wheel(folder.path() / "none.whl", "", {}, {}, runner);
  REQUIRE_FALSE(none);
  CHECK(none.error().kind == ErrorKind::usage);
  VerifyOptions wrong;
  wrong.policy = "everything";
  CHECK(verify_wheel(file, "", {}, wrong, runner).error().code == "VFY001");
}

TEST_CASE("the JSON report has the promised keys, and lists passes only when asked") {
  const auto report = judge_wheel(foreign_wheel());
  const auto some = parse_json(verify_json({report}, false)), all = parse_json(verify_json({report}, true));
  CHECK(some.begin().key() == "schema");
  CHECK(some["schema"] == "sagekit.verify/1");
  const auto& wheel = some["wheels"][0];
  CHECK(wheel["verdict"] == "pass");
  CHECK(wheel["sha256"] == report.sha256);
  CHECK(wheel["skipped"] > 0);
  for (const auto& finding : wheel["findings"]) {
    CHECK(finding["result"] != "pass");
    for (const auto* key : {"code", "severity", "result", "message", "where", "hint"}) CHECK(finding.contains(key));
  }
  for (const auto* key : {"capability", "gpus", "verdict", "modules", "reason"})
    CHECK(wheel["runs_on"][0].contains(key));
  CHECK(all["wheels"][0]["findings"].size() == report.findings.size());
  CHECK(all["wheels"][0]["findings"].size() > wheel["findings"].size());
}
