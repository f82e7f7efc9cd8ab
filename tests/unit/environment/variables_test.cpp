#include <sagekit/variables.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

using namespace sagekit;

namespace {

const KnownVariable& known(std::string_view name) {
  const auto& all = known_variables();
  const auto found = std::ranges::find(all, name, &KnownVariable::name);
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace

TEST_SUITE("variables") {
  TEST_CASE("the table can be read and names none twice") {
    for (const auto& problem : known_variable_problems()) FAIL_CHECK(problem.where.line, ": ", problem.message);
    std::set<std::string> names;
    for (const auto& variable : known_variables()) {
      CHECK_MESSAGE(names.insert(variable.name).second, variable.name);
      CHECK_MESSAGE(!variable.source.empty(), variable.name);
      CHECK_MESSAGE(variable.effect.empty() <= !variable.why_not.empty(), variable.name);
    }
  }
  TEST_CASE("an answer has the value, why it does nothing and what does") {
    const auto text = variable_answer(known("CUDA_MINOR_VERSION"), "9");
    CHECK(text.starts_with("CUDA_MINOR_VERSION=9 does nothing to a wheel: "));
    CHECK(text.ends_with("use --cuda 12.9"));
    CHECK(variable_answer(known("TORCH_CUDA_ARCH_LIST"), "9.0").empty());
  }
  TEST_CASE("a value that a terminal or a reader should not get is left out") {
    CHECK(variable_answer(known("CC"), "gcc\x1b[31m").starts_with("CC=... does"));
    CHECK(variable_answer(known("CC"), std::string(500, 'x')).starts_with("CC=... does"));
    CHECK(variable_answer(known("CMAKE_BUILD_PARALLEL_LEVEL"), "4; id").ends_with("--jobs '4; id'"));
  }
}
