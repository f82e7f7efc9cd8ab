// docs/findings against the code: every code has its page, and no page says something else than the table of rules.
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/golden.hpp"
#include "support/text.hpp"
#include "verify/policy.hpp"

#include <sagekit/causes.hpp>
#include <sagekit/finding.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

using namespace sagekit;
using namespace sagekit::test;

namespace {

namespace fs = std::filesystem;

const fs::path k_root = SAGEKIT_SOURCE_DIR;

/// Families whose codes stand on another's page.
const std::map<std::string, std::string> k_beside = {
    {"CMD", "TCH"}, {"FIL", "CLI"}, {"LCK", "PRV"}, {"VER", "NAM"}, {"rule", "PLG"}};

std::map<std::string, FindingPage> pages_by_code() {
  std::map<std::string, FindingPage> pages;
  for (auto& page : finding_pages()) pages.emplace(page.code, std::move(page));
  return pages;
}

std::string weights(const Rule& rule) {
  return fmt::format("own {} · others {} · pypi {}", to_string(rule.own), to_string(rule.others), to_string(rule.pypi));
}

bool is_code(std::string_view text) {
  const auto letters = family(text);
  return letters.size() >= 3 && letters.size() <= 4 && text.size() == letters.size() + 3 &&
         is_digits(text.substr(letters.size())) &&
         std::ranges::all_of(letters, [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// Every "ABC123" in quotes in the sources of a folder.
std::set<std::string> codes_in(const fs::path& folder) {
  std::set<std::string> codes;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto ending = entry.path().extension();
    if (!entry.is_regular_file() || (ending != ".cpp" && ending != ".hpp")) continue;
    const auto text = read_file(entry.path());
    REQUIRE(text);
    for (const auto& line : split(*text, '\n')) {
      const auto code = std::string_view(line).substr(0, line.find("//"));
      for (std::size_t at = code.find('"'); at != std::string_view::npos; at = code.find('"', at + 1)) {
        const auto end = code.find('"', at + 1);
        if (end == std::string_view::npos) break;
        if (const auto word = code.substr(at + 1, end - at - 1); is_code(word)) codes.emplace(word);
      }
    }
  }
  return codes;
}

std::string index_text() {
  std::string text =
      "# Every code\n\nWritten from these pages and the table of rules by `SAGEKIT_ACCEPT=1 bin/test_verify`; a test "
      "compares.\n"
      "The weights are those of the policies own, others and pypi; without them a code stops a command or is a "
      "reader's.\n";
  std::set<std::string> families;
  for (const auto& page : finding_pages()) families.emplace(family(page.code));
  for (const auto& letters : families) {
    text += "\n## " + letters + "\n\n| code | what | weighs |\n|---|---|---|\n";
    const auto beside = k_beside.find(letters);
    const auto& file = beside == k_beside.end() ? letters : beside->second;
    for (const auto& page : finding_pages(letters)) {
      const auto title = replace_all(page.title, "|", "\\|");
      text += "| [" + page.code + "](" + file + ".md) | " + title + " | " + page.weight + " |\n";
    }
  }
  return text;
}

}  // namespace

TEST_CASE("every code that the sources use has a page") {
  const auto pages = pages_by_code();
  for (const auto* folder : {"core/src", "host/src", "plugins"})
    for (const auto& code : codes_in(k_root / folder)) {
      CAPTURE(code);
      CHECK((pages.contains(code) || !cause_pages(code).empty()));
    }
}

TEST_CASE("every rule's page has the rule's own sentence and weights, and says what, why, how to mend it, and whence") {
  const auto pages = pages_by_code();
  for (const auto& rule : finding_rules()) {
    CAPTURE(rule.code);
    const auto found = pages.find(std::string(rule.code));
    REQUIRE(found != pages.end());
    const FindingPage& page = found->second;
    const bool reader = !page.weight.starts_with("own ");
    if (!reader || rule.code.substr(family(rule.code).size()) >= "100") CHECK(page.title == rule.meaning);
    CHECK(page.weight.ends_with(weights(rule)));
    for (const std::string part : {"**What.** ", "**Why.** ", "**Mend.** ", "**Source.** "}) {
      CAPTURE(part);
      CHECK(page.text.find(part) != std::string::npos);
    }
  }
}

TEST_CASE("a page that names weights is about a rule") {
  for (const auto& page : finding_pages()) {
    CAPTURE(page.code);
    if (page.weight.find("own ") != std::string::npos) CHECK(find_rule(page.code) != nullptr);
    CHECK_FALSE(page.title.empty());
    CHECK(page.title.find('\n') == std::string::npos);
  }
}

TEST_CASE("no two sections are about one code") {
  std::map<std::string, int> sections;
  for (const auto& entry : fs::directory_iterator(k_root / "docs" / "findings")) {
    const auto text = read_file(entry.path());
    REQUIRE(text);
    for (const auto& line : split(*text, '\n'))
      if (line.starts_with("## ") && is_code(line.substr(3, line.find(' ', 3) - 3))) ++sections[line.substr(3, 6)];
  }
  for (const auto& [code, count] : sections) {
    CAPTURE(code);
    CHECK(count == 1);
  }
}

TEST_CASE("the index has every code") { check_committed("docs/findings/index.md", index_text()); }

TEST_CASE("a code is explained, its family is listed, and a wrong one gets the nearest") {
  const auto one = explain_finding("elf003");
  REQUIRE(one);
  REQUIRE(one->size() == 1);
  CHECK(one->front().code == "ELF003");
  CHECK(one->front().title == find_rule("ELF003")->meaning);
  const auto row = explain_finding("BLD006");  // of a table
  REQUIRE(row);
  CHECK(row->front().title.starts_with("stopped on request"));
  CHECK(row->front().text.find("**What to do.** run it again") != std::string::npos);
  const auto judge = explain_finding("rule-threw");  // what the core adds to a judge's
  REQUIRE(judge);
  CHECK(judge->front().title.starts_with("The judge threw an exception."));
  CHECK(explain_finding("rule").value().size() == 2);
  const auto all = explain_finding("TRU");
  REQUIRE(all);
  CHECK(all->size() >= 6);
  const auto wrong = explain_finding("ELF999");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == "VFY009");
  CHECK(wrong.error().hint.find("ELF0") != std::string::npos);
  const auto family = explain_finding("EFL");
  REQUIRE_FALSE(family);
  CHECK(family.error().hint.find("ELF") != std::string::npos);
  CHECK_FALSE(explain_finding(""));
}
