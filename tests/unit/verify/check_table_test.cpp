// The table of checks: every rule has its row, and no row leaves one of its codes without a verdict.
#include "unit/verify/fixture.hpp"
#include "verify/judge.hpp"
#include "verify/policy.hpp"

#include <stdexcept>

using namespace sagekit;
using namespace sagekit::test;

namespace {

/// Said before the checks: by readers, by what is published beside a wheel, by the judging itself.
bool is_said_elsewhere(std::string_view code) {
  const auto letters = family(code);
  const bool reader = (letters == "INF" || letters == "ZIP") && code.substr(3) <= "100";
  return reader || letters == "VFY" || code == "CNT007" || code == "TRU004" || code == "TRU005" || code == "TRU006";
}

struct Asked {
  Artifact artifact;
  VerifyOptions options;
  ScriptedRunner runner;
  CheckResults results;
  FindingList findings{Policy::own, {}};

  std::map<std::string, Finding> run(const Check& check) {
    REQUIRE(run_check(check, {artifact, options, runner, results}, findings));
    std::map<std::string, Finding> found;
    for (auto& one : std::move(findings).report("x", "", {}).findings) found.emplace(one.code, one);
    return found;
  }
};

}  // namespace

TEST_CASE("every rule stands in one row of the table, but for those that are said elsewhere") {
  for (const auto& rule : finding_rules()) {
    CAPTURE(rule.code);
    const auto rows = std::ranges::count_if(
        checks(), [&](const Check& check) { return std::ranges::count(check.codes, rule.code) > 0; });
    CHECK(rows == (is_said_elsewhere(rule.code) ? 0 : 1));
  }
}

TEST_CASE("what a check does not speak of passes, and what it could not look at is skipped") {
  const Check silent{{"ELF001", "ELF003"}, {}, [](const CheckContext&, FindingList&) { return Status(); }};
  const Check breaks{{"ELF001", "ELF003"}, {}, [](const CheckContext&, FindingList& j) {
                       j.broken("ELF003", "wrong");
                       return Status();
                     }};
  const Check gives_up{{"ELF001", "ELF003"}, {}, [](const CheckContext&, FindingList& j) {
                         j.broken("ELF003", "wrong");
                         j.skip_rest("too hard");
                         return Status();
                       }};
  const Check lacks{{"ELF001", "ELF003"},
                    {{[](const CheckContext&) { return false; }, "nothing is there"}},
                    [](const CheckContext&, FindingList& j) { return j.broken("ELF003", "wrong"), Status(); }};
  using enum FindingResult;
  auto found = Asked().run(silent);
  CHECK((found["ELF001"].result == pass && found["ELF003"].result == pass && found.size() == 2));
  found = Asked().run(breaks);
  CHECK((found["ELF001"].result == pass && found["ELF003"].result == fail));
  found = Asked().run(gives_up);
  CHECK((found["ELF001"].result == skipped && found["ELF003"].result == fail));
  found = Asked().run(lacks);
  CHECK((found["ELF001"].result == skipped && found["ELF003"].result == skipped));
  CHECK(found["ELF003"].message == "nothing is there");
}

TEST_CASE("a check that says a code of another row is a mistake, and no verdict") {
  const Check wrong{
      {"ELF001"}, {}, [](const CheckContext&, FindingList& j) { return j.broken("ELF003", "wrong"), Status(); }};
  Asked asked;
  CHECK_THROWS_AS(run_check(wrong, {asked.artifact, asked.options, asked.runner, asked.results}, asked.findings),
                  std::logic_error);
}
