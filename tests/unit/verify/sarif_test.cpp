#include "support/json.hpp"
#include "verify/finding_list.hpp"
#include "verify/report_json.hpp"

#include <sagekit/finding.hpp>

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

WheelReport some_report() {
  static const PolicyFile file{"p.toml",         "own", {}, {}, {{"ELF004", "", "", "issue 12", "2030-01-01", 3}},
                               Severity::warning};
  FindingList findings(EffectivePolicy{Policy::own, &file, "2026-11-21", "demo-1.0-py3-none-any.whl", {}});
  findings.broken("ELF003", "its run path has /build, a place of the build machine", "demo/_a.so", "link without it");
  findings.broken("ELF004", "it asks for an executable stack", "demo/_a.so");
  findings.broken("RUN002", "100 %, and\nmore: of it");
  findings.found("DEMO-1", Severity::error, "a plugin's own");
  findings.skipped("IMP001", "no interpreter was given");
  findings.done("NAM101");
  return std::move(findings).report("dist/a b,c.whl", std::string(64, 'a'), {});
}

}  // namespace

TEST_CASE("a report comes back from its JSON") {
  WheelReport report = some_report();
  report.kind = ArtifactKind::wheel;
  report.python = {"cp312"};
  report.gpu = "NVIDIA H200";
  report.findings.push_back(
      {"LBC002", Severity::error, FindingResult::waived, "too new", "a.so", "", "known", "2026-12-31"});
  report.runs_on.push_back({Capability{9, 0}, {"H100"}, RunVerdict::part, {"a"}, "why", "580", "13.0", "linux", {"b"}});
  const Json json = report_json(report, true);
  const auto back = read_report(json);
  REQUIRE(back);
  CHECK(report_json(*back, true) == json);
  for (const char* key : {"path", "verdict", "findings", "runs_on", "tags"}) {
    Json cut = json;
    cut.erase(key);
    CHECK_FALSE(read_report(cut));
  }
  Json other = json;
  other["findings"][0]["result"] = "fine";
  CHECK_FALSE(read_report(other));
}

TEST_CASE("SARIF has a rule with help for each code, a result for each fault, and what was waived is suppressed") {
  const Json json = parse_json(verify_sarif({some_report()}));
  CHECK(json["version"] == "2.1.0");
  const Json& run = json["runs"][0];
  const Json& rules = run["tool"]["driver"]["rules"];
  REQUIRE(run["results"].size() == 4);
  for (const auto& result : run["results"]) {
    CHECK(rules[result["ruleIndex"].get<std::size_t>()]["id"] == result["ruleId"]);
    CHECK(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "dist/a%20b%2Cc.whl");
    CHECK(result.contains("suppressions") == (result["ruleId"] == "ELF004"));
  }
  const Json& first = run["results"][1];
  CHECK(first["ruleId"] == "ELF003");
  CHECK(first["level"] == "error");
  CHECK(first["locations"][0]["logicalLocations"][0]["name"] == "_a.so");
  CHECK(run["results"][2]["suppressions"][0]["justification"] == "until 2030-01-01: issue 12");
  CHECK(rules[1]["shortDescription"]["text"] == finding_pages("ELF")[2].title);
  CHECK(run["invocations"][0]["toolExecutionNotifications"].size() == 1);
  CHECK(run["artifacts"][0]["hashes"]["sha-256"] == std::string(64, 'a'));
}

TEST_CASE("annotations are escaped as GitHub reads them, and what is waived or skipped is none") {
  const auto text = verify_annotations({some_report()});
  CHECK(
      text ==
      "::error file=dist/a b%2Cc.whl,title=DEMO-1 in a b%2Cc.whl::a plugin's own\n"
      "::error file=dist/a b%2Cc.whl,title=ELF003 in a b%2Cc.whl::demo/_a.so: its run path has /build, a place of the "
      "build machine%0Alink without it\n"
      "::warning file=dist/a b%2Cc.whl,title=RUN002 in a b%2Cc.whl::100 %25, and%0Amore: of it\n");
}

TEST_CASE("GitHub shows ten annotations of a type: the tenth says how many more there are") {
  FindingList findings(EffectivePolicy{Policy::own, nullptr, "2026-11-21", "demo-1.0-py3-none-any.whl", {}});
  findings.broken("RUN002", "a warning");
  for (int i = 0; i < 12; ++i) findings.broken("ELF003", "its run path has /build", "demo/_" + std::to_string(i));
  const auto text = verify_annotations({std::move(findings).report("a.whl", "", {})});
  const auto count = [&](std::string_view word) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  CHECK(count("::error ") == 10);
  CHECK(count("::warning ") == 1);
  CHECK(text.find("::and 3 more errors: sagekit verify --all WHEEL ") != std::string::npos);
  CHECK(text.rfind("::error ") < text.find("::warning "));
}

TEST_CASE("JSON keeps its keys; a waived finding has its reason and end") {
  const Json json = parse_json(verify_json({some_report()}, false, {}));
  CHECK(json["schema"] == "sagekit.verify/1");
  const Json& wheel = json["wheels"][0];
  for (const auto* key : {"path", "sha256", "verdict", "policy", "kind", "findings", "skipped", "runs_on"})
    CHECK(wheel.contains(key));
  CHECK(wheel["policy"] == "p.toml");
  CHECK(wheel["skipped"] == 1);
  CHECK(wheel["findings"].size() == 5);
  for (const auto& finding : wheel["findings"]) {
    for (const auto* key : {"code", "severity", "result", "message", "where", "hint"}) CHECK(finding.contains(key));
    CHECK(finding.contains("waived") == (finding["result"] == "waived"));
  }
  CHECK(wheel["findings"][2]["waived"]["until"] == "2030-01-01");
}
