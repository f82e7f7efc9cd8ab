#include "unit/verify/fixture.hpp"
#include "verify/finding_list.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

const std::string k_policy = R"(schema = 1
base = "others"
require = ["FAT"]

[severity]
ELF003 = "error"
NAM = "note"
DEMO-1 = "off"

[options]
stale_waivers = "error"

[[waiver]]
code = "LBC003"
where = "demo/*.so"
reason = "the cluster has it"
until = "2026-12-31"
)";

PolicyFile policy(const std::string& text = k_policy) {
  auto read = parse_policy_file(text, "wheels.toml");
  if (!read) FAIL(read.error().front().message);
  return std::move(*read);
}

FindingList findings_by(const PolicyFile& file, const std::string& today, const std::string& wheel = "demo-1.0.whl") {
  return FindingList(EffectivePolicy{Policy::others, &file, today, wheel, {}});
}

}  // namespace

TEST_CASE("a policy file is read whole") {
  const auto file = policy();
  CHECK(file.base == "others");
  CHECK(file.require == std::vector<std::string>{"FAT"});
  CHECK(file.weight.at("ELF003") == Weight::error);
  CHECK(file.weight.at("DEMO-1") == Weight::off);
  CHECK(file.stale_waivers == Severity::error);
  REQUIRE(file.waivers.size() == 1);
  CHECK(file.waivers[0].until == "2026-12-31");
  CHECK(file.waivers[0].line >= 13);
  CHECK(policy("schema = 1\n").base.empty());
}

TEST_CASE("what is wrong with a policy file is said with its place and the nearest right word") {
  struct Case {
    std::string text, code, hint;
    int line;
  };
  const std::vector<Case> cases{
      {"schema = ", "VFY011", "", 1},
      {"base = \"own\"\n", "VFY013", "schema = 1", 0},
      {"schema = 2\n", "VFY010", "schema = 1", 1},
      {"schema = 1\nbase = \"other\"\n", "VFY016", "others", 2},
      {"schema = 1\nbaze = \"own\"\n", "VFY014", "base", 2},
      {"schema = 1\nbase = 1\n", "VFY015", "", 2},
      {"schema = 1\nrequire = [\"EFL\"]\n", "VFY017", "ELF", 2},
      {"schema = 1\n[severity]\nELF999 = \"error\"\n", "VFY017", "ELF", 3},
      {"schema = 1\n[severity]\nEFL003 = \"error\"\n", "VFY017", "ELF003", 3},
      {"schema = 1\n[severity]\nELF003 = \"fatal\"\n", "VFY016", "error", 3},
      {"schema = 1\n[options]\nstale_waivers = \"off\"\n", "VFY016", "note", 3},
      {"schema = 1\n[[waiver]]\ncode = \"ELF003\"\nuntil = \"2026-12-31\"\n", "VFY013", "reason = ", 2},
      {"schema = 1\n[[waiver]]\ncode = \"ELF003\"\nreason = \"x\"\n", "VFY013", "until = ", 2},
      {"schema = 1\n[[waiver]]\ncode = \"ELF003\"\nreason = \" \"\nuntil = \"2026-12-31\"\n", "VFY016", "", 4},
      {"schema = 1\n[[waiver]]\ncode = \"ELF003\"\nreason = \"x\"\nuntil = \"2026-02-30\"\n", "VFY016", "", 5},
      {"schema = 1\n[[waiver]]\ncode = \"ELF003\"\nreason = \"x\"\nuntil = 2026-12-31\n", "VFY015", "", 5},
  };
  for (const auto& one : cases) {
    CAPTURE(one.text);
    const auto read = parse_policy_file(one.text, "p.toml");
    REQUIRE_FALSE(read);
    const auto& first = read.error().front();
    CHECK(first.code == one.code);
    CHECK(first.where.file == "p.toml");
    if (one.line > 0) CHECK(first.where.line >= one.line - 1);
    CHECK(first.hint.find(one.hint) != std::string::npos);
  }
  const std::string waiver = "[[waiver]]\ncode = \"ELF003\"\nreason = \"x\"\nuntil = \"2026-12-31\"\n";
  const auto twice = parse_policy_file("schema = 1\n" + waiver + waiver, "p.toml");
  REQUIRE_FALSE(twice);
  CHECK(twice.error().front().code == "VFY018");
}

TEST_CASE("a code's weight goes before its family's, and a family switches nothing on") {
  const auto file = policy();
  auto findings = findings_by(file, "2026-11-21");
  findings.broken("ELF003", "x");  // a warning for others, an error here
  findings.broken("NAM101", "x");  // a warning for others, a note here
  findings.broken("NAM104", "x");  // off for others
  findings.found("DEMO-1", Severity::error, "a plugin's");
  findings.found("INF005", Severity::error, "a reader's");
  const auto report = std::move(findings).report("w", "s", {});
  CHECK(report.policy == "wheels.toml");
  REQUIRE(report.findings.size() == 3);
  CHECK(report.findings[0].code == "ELF003");
  CHECK(report.findings[0].result == FindingResult::fail);
  CHECK(report.findings[1].code == "INF005");
  CHECK(report.findings[2].severity == Severity::note);
}

TEST_CASE("what is switched off is neither broken nor passed nor skipped") {
  const auto file = policy("schema = 1\n[severity]\nFAT = \"off\"\nTRU001 = \"off\"\n");
  auto findings = findings_by(file, "2026-11-21");
  findings.broken("FAT101", "x");
  findings.done("FAT102");
  findings.skipped("TRU001", "no plugin");
  CHECK(std::move(findings).report("w", "s", {}).findings.empty());
}

TEST_CASE("a waiver excuses what it is for until its day is over, and then says so") {
  const auto file = policy();
  for (const auto& [today, holds] : {std::pair{"2026-12-31", true}, {"2027-01-01", false}, {"", false}}) {
    CAPTURE(today);
    auto findings = findings_by(file, today);
    findings.broken("LBC003", "the tag is false", "demo/_a.so");
    findings.broken("ELF003", "a run path", "demo/_a.so");
    const auto report = std::move(findings).report("w", "s", {});
    const auto finding = trouble(report, "LBC003");
    REQUIRE(finding.size() == 1);
    CHECK((finding[0].result == FindingResult::waived) == holds);
    CHECK(finding[0].reason == (holds ? "the cluster has it" : ""));
    CHECK(finding[0].until == (holds ? "2026-12-31" : ""));
    CHECK(trouble(report, "ELF003")[0].result == FindingResult::fail);
    CHECK(trouble(report, "VFY101").empty() == holds);
    CHECK(stale_waivers(file, {report}).empty());
  }
}

TEST_CASE("a waiver is for its place and its wheel only; one that nothing needs is said once for the run") {
  const auto file = policy(
      "schema = 1\n[[waiver]]\ncode = \"ELF\"\nwheel = \"demo-1.*\"\nwhere = \"*_a.so\"\nreason = \"x\"\nuntil = "
      "\"2030-01-01\"\n");
  std::vector<WheelReport> reports;
  for (const auto& [wheel, where, waived] : {std::tuple{"demo-1.0.whl", "demo/_a.so", true},
                                             {"demo-2.0.whl", "demo/_a.so", false},
                                             {"demo-1.0.whl", "demo/_b.so", false}}) {
    auto findings = findings_by(file, "2026-11-21", wheel);
    findings.broken("ELF001", "x", where);
    reports.push_back(std::move(findings).report(wheel, "s", {}));
    CHECK(reports.back().pass == waived);
  }
  CHECK(stale_waivers(file, reports).empty());
  reports.erase(reports.begin());
  const auto stale = stale_waivers(file, reports);
  REQUIRE(stale.size() == 1);
  CHECK(stale[0].code == "VFY102");
  CHECK(stale[0].severity == Severity::warning);
  CHECK(stale[0].where.line > 0);
  CHECK(stale[0].message.find("ELF in *_a.so of demo-1.*") != std::string::npos);
}

TEST_CASE("a required family that nothing was made of fails") {
  FindingList findings(Policy::others, {"VAR", "NAM"});
  findings.done("NAM101");
  const auto report = std::move(findings).report("w", "s", {});
  CHECK_FALSE(report.pass);
  REQUIRE(trouble(report, "VFY103").size() == 1);
  CHECK(trouble(report, "VFY103")[0].message.starts_with("VAR"));
}

TEST_CASE("a wrong family word is an error with the nearest") {
  VerifyOptions options;
  options.require = {"EFL"};
  const auto policy = effective_policy(options, "", "w");
  REQUIRE_FALSE(policy);
  CHECK(policy.error().code == "VFY003");
  CHECK(policy.error().hint.find("ELF") != std::string::npos);
}

TEST_CASE("sagekit's own wheels are judged by own unless something else is asked for") {
  CHECK(effective_policy({}, "sagekit 0.1.0", "w")->base == Policy::own);
  CHECK(effective_policy({}, "setuptools (80)", "w")->base == Policy::others);
  VerifyOptions options;
  options.policy_file = policy("schema = 1\n");
  CHECK(effective_policy(options, "sagekit 0.1.0", "w")->base == Policy::own);
  options.policy_file = policy("schema = 1\nbase = \"pypi\"\n");
  CHECK(effective_policy(options, "sagekit 0.1.0", "w")->base == Policy::pypi);
}
