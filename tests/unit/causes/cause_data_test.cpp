#include "causes/cause_data.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

using namespace sagekit;

namespace {

Diagnostics problems_of(std::string_view text) {
  const std::array files{EmbeddedText{"one", text}};
  return read_cause_data(files, true).problems;
}

bool says(const Diagnostics& problems, std::string_view code, std::string_view words) {
  return std::ranges::any_of(problems, [&](const Diagnostic& one) {
    return one.code == code && one.message.find(words) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("the data of causes reads without a complaint: patterns, conditions, references") {
  const auto data = read_cause_data(cause_files(), true);
  for (const auto& problem : data.problems)
    FAIL_CHECK(problem.where.file, ":", problem.where.line, ": ", problem.code, " ", problem.message);
  CHECK_FALSE(data.rows.empty());
  CHECK_FALSE(data.facts.empty());
}

TEST_CASE("a row with a mistake says where it is") {
  constexpr std::string_view row =
      "[[group]]\nid = \"g\"\nheading = \"h\"\n[[cause]]\ncode = \"WHY101\"\ntitle = \"t\"\nstage = \"run\"\n"
      "cause = \"c\"\nsource = \"s\"\ngroup = \"g\"\nfix = [{ why = \"w\" }]\n";
  const auto with = [&](std::string_view more) { return problems_of(std::string(row) + std::string(more)); };
  CHECK(with("match = ['some words']\n").empty());
  CHECK(says(with("match = ['some (words']\n"), "DAT010", "missing )"));
  CHECK(says(with("match = ['a\\d+']\n"), "DAT010", "no word of four letters"));
  CHECK(says(with("match = ['some words']\nwhen = [\"nvcc < \"]\n"), "DAT011", "is no condition"));
  CHECK(says(with("match = ['some words']\nrole = \"reason\"\n"), "DAT012", "no role"));
  CHECK(says(with("match = ['some words']\nafter = [\"WHY999\"]\n"), "DAT013", "WHY999 is no code"));
  CHECK(says(with("match = ['some words']\nwith = [\"WHY999\"]\n"), "DAT013", "there is no WHY999"));
}

TEST_CASE("rows of two files name each other, and no code stands twice") {
  constexpr std::string_view noise =
      "[[cause]]\ncode = \"WHY601\"\ntitle = \"t\"\nrole = \"noise\"\nmatch = ['some words']\n";
  const std::array twice{EmbeddedText{"one", noise}, EmbeddedText{"two", noise}};
  const auto problems = read_cause_data(twice, true).problems;
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].where.file == "core/data/causes/two.toml");
  CHECK(says(problems, "DAT013", "WHY601 stands twice"));
}
