// Every judged rule about names, framing, dist-info, layout and variants: one wheel that breaks it, and right ones that
// break none.
#include "support/wheel_builder.hpp"
#include "unit/verify/fixture.hpp"
#include "verify/policy.hpp"

#include <functional>
#include <set>

using namespace sagekit;
using namespace sagekit::test;

namespace {

const std::string k_folder = "tiny_kernels-1.2.0.dist-info/";
const std::string k_data = "tiny_kernels-1.2.0.data/";

WheelBuilder right_wheel() {
  WheelBuilder wheel;
  wheel.files = {{"tiny_kernels/__init__.py", "answer = 42\n"},
                 {"tiny_kernels/_k" + k_suffix, demo_module("_k", {{80, 0}, {90, 'a'}}).build()}};
  wheel.metadata =
      "Metadata-Version: 2.4\nName: tiny-kernels\nVersion: 1.2.0\nSummary: A test.\nLicense-Expression: Apache-2.0\n"
      "License-File: LICENSE\nAuthor-email: A. B. <a@example.org>\nProject-URL: Source, https://example.org\n"
      "Classifier: Programming Language :: Python :: 3\nRequires-Python: >=3.9\nProvides-Extra: all\n"
      "Requires-Dist: torch==2.11.*\nRequires-Dist: scipy<2,>=1; extra == \"all\"\n"
      "Description-Content-Type: text/markdown\n\n# A test\n";
  return wheel;
}

using Change = std::function<void(WheelBuilder&)>;

Change metadata(std::string_view old, const std::string& text) {
  return [=](WheelBuilder& w) { w.metadata.replace(w.metadata.find(old), old.size(), text); };
}
Change line(const std::string& text) { return metadata("Summary: A test.\n", "Summary: A test.\n" + text + "\n"); }
Change file(const std::string& path, const std::string& text = "x\n") {
  return [=](WheelBuilder& w) { w.files.emplace_back(path, text); };
}
Change tagged(const std::string& tag) {
  return [=](WheelBuilder& w) {
    w.file_name = "tiny_kernels-1.2.0-" + tag + ".whl";
    const auto at = w.wheel.find("Tag: ") + 5;
    w.wheel.replace(at, w.wheel.find('\n', at) - at, tag);
  };
}
Change pure(const std::string& path) {
  return [=](WheelBuilder& w) {
    tagged("py3-none-any")(w);
    w.files = {{"tiny_kernels/__init__.py", ""}, {path, "x\n"}};
  };
}
Change variant(const std::string& json, const std::string& label = "cu130") {
  return [=](WheelBuilder& w) {
    w.file_name = "tiny_kernels-1.2.0-cp312-cp312-linux_x86_64-" + label + ".whl";
    w.files.emplace_back(k_folder + "variant.json", json);
  };
}
std::string variant_json(const std::string& label, const std::string& properties, const std::string& space = "nvidia") {
  return R"({"$schema": "https://x/v0.1.1.json", "default-priorities": {"namespace": [")" + space +
         R"("]}, "variants": {")" + label + "\": {\"nvidia\": {" + properties + "}}}}";
}

WheelReport judged(const WheelBuilder& wheel, const std::string& policy) {
  const auto folder = scratch();
  const auto path = folder.path() / wheel.file_name;
  REQUIRE(write_file_atomic(path, wheel.zip().build()));
  ScriptedRunner runner;
  VerifyOptions options;
  options.policy = policy;
  const auto report = verify_wheel(path, "", {}, options, runner);
  if (!report) FAIL(report.error().message);
  return *report;
}

/// A fault is said: a note is a pass with other words than the rule's own.
bool says(const WheelReport& report, std::string_view code, FindingResult result) {
  return std::ranges::any_of(report.findings, [&](const Finding& one) {
    const Rule* const rule = find_rule(code);
    return one.code == code && one.result == result && (rule == nullptr || one.message != rule->meaning);
  });
}

bool is_ours(std::string_view code) {
  for (const auto* const family : {"NAM", "ZIP", "INF", "CNT", "VAR"})
    if (code.starts_with(family)) return true;
  return false;
}

/// What is not a pass, of the families here; without what only sagekit's own wheels have.
std::string trouble_of(const WheelReport& report) {
  std::string text;
  for (const auto& one : report.findings)
    if (is_ours(one.code) && (one.result == FindingResult::fail || one.result == FindingResult::warn) &&
        one.code != "INF103" && one.code != "NAM104")
      text += one.code + " " + one.where + ": " + one.message + "; ";
  return text;
}

struct Case {
  std::string code;
  FindingResult own, others;
  Change change;
};

std::vector<Case> cases() {
  using enum FindingResult;
  const std::string lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";
  return {
      {"NAM106", fail, fail, tagged("312-none-linux_x86_64")},
      {"NAM107", fail, fail, tagged("py3-cp312-linux_x86_64")},
      {"NAM107", fail, fail, tagged("cp312-cp311-linux_x86_64")},
      {"NAM107", fail, fail, tagged("cp312-abi3t-linux_x86_64")},
      {"ZIP101", fail, warn, pure("tiny_kernels/aux.py")},
      {"ZIP101", fail, warn, pure("tiny_kernels/Com1.txt")},
      {"ZIP101", fail, warn, pure("tiny_kernels/dot.")},
      {"ZIP101", fail, warn, pure("tiny_kernels/a?.py")},
      {"ZIP102", warn, pass, file("tiny_kernels/" + std::string(200, 'x'))},
      {"ZIP103", warn, pass, file("tiny_kernels/\xc3\xa9")},
      {"ZIP104", warn, pass, file("tiny_kernels/a b")},
      {"INF104", fail, fail, tagged("py3-none-any")},
      {"INF106", fail, warn, line("Colour: blue")},
      {"INF106", fail, warn, line("Summary: again")},
      {"INF106", fail, warn, line("Import-Name: tiny_kernels")},
      {"INF106", fail, warn, line("Dynamic: Name")},
      {"INF106", fail, warn, metadata("Metadata-Version: 2.4", "Metadata-Version: 2.9")},
      {"INF106", fail, warn,
       [](WheelBuilder& w) {  // License-Expression came with 2.4
         metadata("Metadata-Version: 2.4", "Metadata-Version: 2.1")(w);
         metadata("License-File: LICENSE\n", "")(w);
       }},
      {"INF107", fail, warn, metadata("A test.\n", "A\n  test.\n")},
      {"INF107", fail, warn, metadata("A test.", std::string(513, 'x'))},
      {"INF108", fail, pass, metadata("a@example.org", "a@example")},
      {"INF109", fail, pass, line("Classifier: Private :: No Upload")},
      {"INF109", fail, pass, line("Classifier: nonsense")},
      {"INF110", fail, pass, metadata("Source, https://example.org", "https://example.org")},
      {"INF110", fail, pass, metadata("https://example.org", "example.org")},
      {"INF110", fail, pass, line("Project-URL: Source, https://example.org/2")},
      {"INF110", fail, pass, line("Home-page: UNKNOWN")},
      {"INF111", fail, fail, line("Requires-Dist: numpy 1.0")},
      {"INF112", fail, pass, line("Requires-Dist: numpy @ https://example.org/n.whl")},
      {"INF113", fail, warn, metadata(">=3.9", "3.9+")},
      {"INF114", fail, warn, line("Provides-Extra: -")},
      {"INF115", fail, pass, metadata("Provides-Extra: all", "Provides-Extra: All")},
      {"INF115", fail, pass, metadata("Provides-Extra: all\n", "")},
      {"INF116", fail, warn, metadata("text/markdown", "text/html")},
      {"INF116", fail, warn, metadata("text/markdown", "text/markdown; charset=latin-1")},
      {"INF117", warn, pass, metadata("Description-Content-Type: text/markdown\n", "")},
      {"INF117", warn, pass, metadata("# A test\n", "UNKNOWN\n")},
      {"INF118", fail, warn, metadata("Apache-2.0", "Apache 2.0")},
      {"INF118", fail, warn, metadata("Apache-2.0", "(MIT OR BSD-3-Clause")},
      {"INF118", fail, warn, metadata("Apache-2.0", "Apache-2")},
      {"INF119", fail, pass, line("License: MIT")},
      {"INF119", fail, pass, line("Classifier: License :: OSI Approved :: MIT License")},
      {"INF120", fail, warn, line("License-File: ../LICENSE")},
      {"INF121", fail, pass, metadata("Metadata-Version: 2.4", "Metadata-Version: 2.5\nImport-Name: a-b")},
      {"INF122", fail, warn, file(k_folder + "entry_points.txt", "x = y\n")},
      {"INF123", fail, fail, file(k_folder + "entry_points.txt", "[console_scripts]\n../x = tiny_kernels:main\n")},
      {"INF124", fail, warn, file(k_folder + "entry_points.txt", "[console_scripts]\nx = tiny_kernels.no:main\n")},
      {"INF125", warn, pass, file(k_folder + "top_level.txt", "other\n")},
      {"INF126", fail, warn, file(k_folder + "sboms/a.json", "{")},
      {"INF126", fail, warn, file(k_folder + "sboms/a.json", "{\"a\": 1}")},
      {"INF127", fail, fail, file(k_data + "stuff/x")},
      {"INF127", fail, fail, file("other-1.data/scripts/x")},
      {"INF128", fail, warn, file(k_data + "scripts/x", "#!/usr/bin/python3\n")},
      {"INF129", fail, warn, file(k_data + "purelib/tiny_kernels/_p" + k_suffix, demo_module("_p", {}).build())},
      {"PYA001", fail, fail,
       file(k_data + "platlib/tiny_kernels/_p.cpython-311-x86_64-linux-gnu.so", demo_module("_p", {}).build())},
      {"INF129", fail, warn, [](WheelBuilder& w) { w.wheel.replace(w.wheel.find("false"), 5, "true"); }},
      {"CNT009", pass, pass,
       [](WheelBuilder& w) {
         file("tiny_kernels/a.txt", std::string(99, 'x'))(w);
         file("tiny_kernels/b.txt", std::string(99, 'x'))(w);
       }},
      {"CNT010", warn, pass, file("README.md")},
      {"CNT011", warn, pass, file("tiny_kernels/my-data/x.py")},
      {"CNT012", fail, warn, file("tests/__init__.py")},
      {"CNT013", fail, warn, file("__init__.py")},
      {"CNT014", fail, warn,
       [](WheelBuilder& w) {
         tagged("py3-none-any")(w);
         w.files.clear();
       }},
      {"CNT016", warn, pass, file("share/x.txt")},
      {"CNT017", fail, fail, [=](WheelBuilder& w) { w.files[1].second = lfs; }},
      {"CNT017", fail, fail, [=](WheelBuilder& w) { w.files[1].second.clear(); }},
      {"CNT020", fail, warn, file("x.pth", "import os\n")},
      {"VAR100", fail, warn, variant("[")},
      {"VAR100", fail, warn, variant(R"({"$schema": "https://x/v9.json"})")},
      {"VAR101", fail, warn, variant(variant_json("A_label", ""), "A_label")},
      {"VAR102", fail, warn, variant(variant_json("cu129", ""))},
      {"VAR102", fail, warn,
       [](WheelBuilder& w) { w.file_name = "tiny_kernels-1.2.0-cp312-cp312-linux_x86_64-cu130.whl"; }},
      {"VAR103", fail, warn, variant(variant_json("cu130", R"("SM": ["90"])"))},
      {"VAR104", fail, warn, variant(variant_json("cu130", R"("cuda": ["13.0"])", "amd"))},
      {"VAR105", fail, pass, variant(variant_json("cu130", R"("cuda": ["13.1", "13.0"])"))},
      {"VAR106", fail, warn, variant(variant_json("cu130", R"("sm_arch": ["75_real"])"))},
      {"VAR106", fail, warn, variant(variant_json("cu130", R"("sm_arch": ["90_virtual"])"))},
      {"VAR107", fail, warn,
       [](WheelBuilder& w) {
         w.files[1].second = demo_module("_k", {{120, 'a'}}).build();
         variant(variant_json("cu130", R"("sm_arch": ["120_real"])"))(w);
       }},
      {"VAR108", pass, pass, variant(variant_json("cu130", R"("cuda": ["13.0"])"))},
  };
}

}  // namespace

TEST_CASE("each rule is broken by one wheel, and weighs what its policy says") {
  for (const auto& one : cases()) {
    CAPTURE(one.code);
    auto wheel = right_wheel();
    one.change(wheel);
    CAPTURE(wheel.file_name);
    CAPTURE(wheel.metadata);
    for (const auto& [policy, wanted] : {std::pair{"own", one.own}, std::pair{"others", one.others}}) {
      const auto report = judged(wheel, policy);
      CAPTURE(policy);
      CAPTURE(trouble_of(report));
      const auto weight = find_rule(one.code)->weight(*parse_policy(policy));
      CHECK(says(report, one.code, wanted) == (weight != Weight::off));
    }
  }
}

TEST_CASE("right wheels break none of these rules, under no policy") {
  using enum FindingResult;
  const std::vector<std::pair<std::string, Change>> rights = {
      {"plain", [](WheelBuilder&) {}},
      {"two Pythons",
       [](WheelBuilder& w) {
         tagged("cp311-abi3-linux_x86_64")(w);
         w.wheel += "Tag: cp312-abi3-linux_x86_64\n";
         w.file_name = "tiny_kernels-1.2.0-cp311.cp312-abi3-linux_x86_64.whl";
       }},
      {"commands and data",
       [](WheelBuilder& w) {
         file(k_data + "scripts/tiny", "#!python\n")(w);  // dist-info comes last
         file(k_data + "data/share/tiny.txt")(w);
         file(k_folder + "entry_points.txt", "[console_scripts]\ntiny = tiny_kernels:main\n[group]\na b = x.y:z\n")(w);
         file(k_folder + "top_level.txt", "tiny_kernels\n")(w);
         file(k_folder + "sboms/a.cdx.json", "{\"bomFormat\": \"CycloneDX\"}")(w);
       }},
      {"a linker's script", file("tiny_kernels/libx.so", "/* GNU ld script */ INPUT(-lc)\n")},
      {"variant", variant(variant_json("cu130", R"("sm_arch": ["80_real", "90_real"])"))},
      {"null variant", variant(R"({"$schema": "https://x/v0.1.1.json", "default-priorities": {"namespace": ["nvidia"]},
                                   "variants": {"null": {}}})",
                               "null")},
      {"import names", metadata("Metadata-Version: 2.4",
                                "Metadata-Version: 2.5\nImport-Name: tiny_kernels\n"
                                "Import-Namespace: a.b ; private")},
  };
  for (const auto& [name, change] : rights) {
    CAPTURE(name);
    auto wheel = right_wheel();
    change(wheel);
    for (const auto* const policy : {"own", "others"}) CHECK(trouble_of(judged(wheel, policy)) == "");
  }
}

TEST_CASE("a field that its Metadata-Version does not know yet is named with the version that brought it") {
  auto wheel = right_wheel();
  metadata("Metadata-Version: 2.4", "Metadata-Version: 2.1")(wheel);
  metadata("License-File: LICENSE\n", "")(wheel);
  const auto found = trouble(judged(wheel, "others"), "INF106");
  REQUIRE(found.size() == 1);
  CHECK(found[0].message == "License-Expression came with Metadata-Version 2.4, this is 2.1");
  metadata("License-Expression: Apache-2.0\n", "")(wheel);
  CHECK(trouble(judged(wheel, "others"), "INF106").empty());
}

TEST_CASE("a common name at the top is told once, however many files lie there") {
  auto wheel = right_wheel();
  for (const auto* const name : {"tests/__init__.py", "tests/a.py", "tests/b.py"}) file(name)(wheel);
  CHECK(std::ranges::count(judged(wheel, "others").findings, "CNT012", &Finding::code) == 1);
}

TEST_CASE("under the public index's policy fails what its upload gate refuses, and nothing that it lets pass") {
  using enum FindingResult;
  auto wheel = right_wheel();
  tagged("cp312-cp312-manylinux_2_17_x86_64")(wheel);
  CHECK(trouble_of(judged(wheel, "pypi")) == "");
  const std::vector<Case> gate = {
      {"INF106", fail, pass, line("Colour: blue")},
      {"INF112", fail, pass, line("Requires-Dist: numpy @ https://example.org/n.whl")},
      {"INF122", fail, pass, file(k_folder + "entry_points.txt", "x = y\n")},
      {"INF013", fail, pass, [](WheelBuilder& w) { w.record = w.folder + "/RECORD,,\n"; }},
      {"NAM104", fail, pass, tagged("cp312-cp312-manylinux_2_17_sparc")},
      {"NAM104", fail, pass, tagged("cp312-cp312-macosx_12_3_arm64")},
      {"NAM109", fail, pass, variant(variant_json("cu130", R"("cuda": ["13.0"])"))},
  };
  for (const auto& one : gate) {
    CAPTURE(one.code);
    auto broken = wheel;
    one.change(broken);
    CHECK(says(judged(broken, "pypi"), one.code, fail));
  }
  const std::vector<Change> passes = {
      [](WheelBuilder& w) { w.wheel.replace(w.wheel.find("manylinux_2_17"), 14, "manylinux_2_28"); },
      file("tests/__init__.py"),
      file("tiny_kernels/a b"),
      line("License: MIT"),
      [](WheelBuilder& w) {
        metadata("Metadata-Version: 2.4", "Metadata-Version: 2.1")(w);
        metadata("License-Expression: Apache-2.0\n", "")(w);
      },
      [](WheelBuilder& w) {
        w.record = w.right_record();
        w.record.replace(w.record.find("sha256="), 7, "sha256=AAAA");
      }};
  for (const auto& change : passes) {
    auto other = wheel;
    change(other);
    const auto report = judged(other, "pypi");
    CAPTURE(trouble_of(report));
    for (const auto& finding : report.findings) CHECK_FALSE((is_ours(finding.code) && finding.result == fail));
  }
}
