// A mend that is for some machines only says so where it is not known which one failed.
#include "causes/cause_data.hpp"
#include "causes/conditions.hpp"

#include <sagekit/causes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace sagekit;

namespace {

const std::string k_no_triton = "ModuleNotFoundError: No module named 'triton'\n";

std::vector<CauseFix> mends(const std::string& log, const LogFacts& here = {}) {
  const auto causes = explain_log_text(log, here).causes;
  REQUIRE_FALSE(causes.empty());
  return causes.front().fix;
}

}  // namespace

TEST_CASE("where the system is not known, a mend of one system is marked with it") {
  const auto both = mends(k_no_triton);
  REQUIRE(both.size() == 2);
  CHECK(both.front().command == "python -m pip install triton-windows");
  CHECK(both.front().when == "on Windows");
  CHECK(both.back().command == "python -m pip install triton");
  CHECK(both.back().when == "on Linux");
  for (const auto& known : {mends(k_no_triton, {{"os", "linux"}}), mends("C:\\ui> python main.py\n" + k_no_triton)}) {
    REQUIRE(known.size() == 1);
    CHECK(known.front().when.empty());
  }
}

TEST_CASE("so is one of one installer") {
  const std::string line = "error: invalid command 'bdist_wheel'\n";
  const auto both = mends(line, {{"os", "linux"}});
  REQUIRE(both.size() == 2);
  CHECK(both.front().when == "with uv");
  CHECK(both.back().when == "with pip");
  const auto uv = mends("$ uv pip install a\n" + line, {{"os", "linux"}});
  REQUIRE(uv.size() == 1);
  CHECK(uv.front().when.empty());
  // Outside of sagekit is everybody: no mark.
  const auto killed = mends("nvcc error   : 'cicc' died due to signal 9 (Kill signal)\n", {{"os", "linux"}});
  CHECK(std::ranges::all_of(killed, [](const auto& one) { return one.when.empty(); }));
}

TEST_CASE("every mend of one system has its mark as long as that is not known") {
  for (const auto& row : cause_data().rows)
    for (const auto& fix : row.fix) {
      INFO(row.code, " ", fix.command);
      const auto mark = mark_of(fix, {}, cause_data());
      const auto is_of = [&](std::string_view one, std::string_view other) {
        return std::ranges::any_of(fix.when, [&](const auto& when) { return when == one || when == other; });
      };
      CHECK((mark.find("on Windows") != std::string::npos) == is_of("os = windows", "os != linux"));
      CHECK((mark.find("on Linux") != std::string::npos) == is_of("os = linux", "os != windows"));
      const LogFacts windows{{"os", "windows"}};
      if (all_hold(fix.conditions, windows) != Holds::no)
        CHECK(mark_of(fix, windows, cause_data()).find("on ") == std::string::npos);
    }
}
