#include "support/utf8.hpp"

#include "support/toml_guard.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace sagekit;

TEST_CASE("UTF-8 ends where the first sequence stands that is not well-formed") {
  const std::pair<std::string, std::size_t> cases[] = {
      {"", 0},
      {"plain", 5},
      {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", 11},
      {"ab\xff", 2},
      {"a\x80", 1},              // a continuation by itself
      {"\xc0\xaf", 0},           // overlong "/"
      {"x\xe0\x80\x80", 1},      // overlong in three bytes
      {"\xed\xa0\x80", 0},       // a surrogate
      {"\xed\x9f\xbf", 3},       // the last before them
      {"\xf4\x8f\xbf\xbf", 4},   // U+10FFFF
      {"\xf4\x90\x80\x80", 0},   // above it
      {"ok\xe2\x82", 2},         // cut off
      {"\xf0\x8f\xbf\xbf z", 0}  // overlong in four bytes
  };
  for (const auto& [text, length] : cases) {
    CAPTURE(text);
    CHECK(utf8_length(text) == length);
    CHECK(is_utf8(text) == (length == text.size()));
  }
}

TEST_CASE("TOML that is not UTF-8 is refused at the line and column of its first bad byte") {
  const auto fault = toml_fault("a = 1\nb = \"\xc3\xa9\xff\"\n");
  REQUIRE(fault);
  CHECK(fault->line == 2);
  CHECK(fault->column == 8);
  CHECK_FALSE(toml_fault("a = \"\xc3\xa9\"\n"));
}
