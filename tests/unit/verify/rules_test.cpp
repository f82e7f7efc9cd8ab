#include "support/file.hpp"
#include "verify/finding_list.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace sagekit;

TEST_CASE("every rule has its paragraph in docs/findings") {
  for (const auto& rule : finding_rules()) {
    CAPTURE(rule.code);
    const auto text =
        read_file(std::string(SAGEKIT_SOURCE_DIR "/docs/findings/") + std::string(family(rule.code)) + ".md");
    REQUIRE(text);
    CHECK(text->find(std::string(rule.code)) != std::string::npos);
    CHECK_FALSE(rule.meaning.empty());
  }
}

TEST_CASE("a wrong policy is refused with the nearest right one") {
  CHECK(parse_policy("own").has_value());
  const auto wrong = parse_policy("pipy");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == "VFY001");
  CHECK(wrong.error().kind == ErrorKind::usage);
  CHECK(wrong.error().hint.find("pypi") != std::string::npos);
}

namespace {
WheelReport one(Policy policy, std::string_view code) {
  FindingList findings(policy, {});
  findings.broken(code, "x");
  return std::move(findings).report("w", "s", {});
}
}  // namespace

TEST_CASE("the policy decides what a broken rule weighs") {
  CHECK_FALSE(one(Policy::own, "ELF003").pass);
  CHECK(one(Policy::others, "ELF003").pass);
  CHECK(one(Policy::others, "ELF003").findings[0].result == FindingResult::warn);
  CHECK(one(Policy::own, "NAM104").findings.empty());
  CHECK_FALSE(one(Policy::pypi, "NAM104").pass);
  CHECK_FALSE(one(Policy::others, "XYZ999").pass);  // unknown: fail closed
}

TEST_CASE("what a reader only warns of fails a wheel of our own") {
  for (const auto& [policy, pass] : {std::pair{Policy::own, false}, std::pair{Policy::others, true}}) {
    FindingList findings(policy, {});
    findings.read_problems({{Severity::warning, "INF020", "x", {}, {}}}, "w");
    CHECK(std::move(findings).report("w", "s", {}).pass == pass);
  }
}

TEST_CASE("a skipped check passes nothing, and fails where its family is required") {
  FindingList findings(Policy::own, {"IMP"});
  findings.skipped("RUN001", "no record");
  findings.skipped("IMP001", "no interpreter");
  findings.done("IMP001");
  const auto report = std::move(findings).report("w", "s", {});
  REQUIRE(report.findings.size() == 2);
  CHECK_FALSE(report.pass);
  CHECK(report.findings[0].code == "IMP001");
  CHECK(report.findings[0].result == FindingResult::fail);
  CHECK(report.findings[1].result == FindingResult::skipped);
}
