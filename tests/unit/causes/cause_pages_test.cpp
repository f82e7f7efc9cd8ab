#include "causes/cause_data.hpp"
#include "support/golden.hpp"

#include <sagekit/causes.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace sagekit;

TEST_CASE("docs/troubleshooting.md is what the data says") {
  test::check_committed("docs/troubleshooting.md", troubleshooting_page());
}

TEST_CASE("each row that people may see has a page, under its code and its signatures") {
  std::set<std::string> codes;
  for (const auto& page : cause_pages("why")) {
    CHECK(codes.insert(page.code).second);
    CHECK_FALSE(page.text.empty());
    CHECK_FALSE(page.title.empty());
  }
  for (const auto& row : cause_data().rows) {
    if (!has_page(row.role)) continue;
    CHECK(codes.contains(row.code));
    for (const auto& id : row.signatures) CHECK_FALSE(cause_pages(id).empty());
  }
  CHECK(cause_pages("WHY000").empty());
  CHECK(cause_pages("").empty());
}

TEST_CASE("what people see, typed as it is, finds its row before any other") {
  for (const auto& row : cause_data().rows) {
    // What needs words around it, or numbers that compare, is tested by logs.
    if (!may_explain(row.role) || !row.near.empty() || !row.when.empty()) continue;
    const bool finds = std::ranges::any_of(row.looks_like, [&](const std::string& line) {
      const auto causes = explain_log_text(line).causes;
      return !causes.empty() && causes.front().code == row.code;
    });
    CHECK_MESSAGE(finds, row.code, " is not found by what it is said to look like");
  }
}
