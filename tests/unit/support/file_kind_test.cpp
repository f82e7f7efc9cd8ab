// Files that are neither wheel nor module are named for what they are.
#include "support/file_kind.hpp"

#include "support/other_files.hpp"

#include <doctest/doctest.h>

using namespace sagekit;
using namespace std::string_view_literals;

TEST_CASE("each stranger is named for what is in it") {
  for (const auto& [code, bytes] : test::other_files()) {
    CAPTURE(code);
    CAPTURE(bytes.substr(0, 30));
    const auto kind = other_kind(Bytes(bytes));
    REQUIRE(kind);
    CHECK(kind->code == code);
    CHECK_FALSE(kind->what.empty());
    CHECK_FALSE(kind->hint.empty());
  }
}

TEST_CASE("what is not known is not named, and a module is none of these") {
  CHECK_FALSE(other_kind(Bytes("\x80\x81\x82\x83 binary"sv)));
  CHECK_FALSE(
      other_kind(Bytes("\x7f"
                       "ELF\x02\x01\x01\0\0\0\0\0"sv)));
}
