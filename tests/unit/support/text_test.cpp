#include "support/text.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

TEST_CASE("a glob matches whole strings") {
  CHECK(glob_match("*-python312", "sage3-pytorch28-cu129-python312"));
  CHECK_FALSE(glob_match("*-python31", "sage3-pytorch28-cu129-python312"));
  CHECK(glob_match("sage?-*", "sage3-x"));
  CHECK(glob_match("a[bc]d", "acd"));
  CHECK_FALSE(glob_match("a[bc]d", "aed"));
  CHECK(glob_match("", ""));
  CHECK_FALSE(glob_match("", "x"));
  CHECK(glob_match("*", ""));
}

TEST_CASE("in path mode one star stays inside a folder and two cross folders") {
  CHECK(glob_match("**/*.py", "a/b/c.py", true));
  CHECK(glob_match("**/*.py", "c.py", true));
  CHECK_FALSE(glob_match("*.py", "a/c.py", true));
  CHECK(glob_match("include/**", "include/cute/x.hpp", true));
  CHECK_FALSE(glob_match("include/*", "include/cute/x.hpp", true));
}

TEST_CASE("the last glob that matches decides") {
  CHECK(globs_select({"*", "!*win*"}, "a-linux"));
  CHECK_FALSE(globs_select({"*", "!*win*"}, "a-win_amd64"));
  CHECK(globs_select({"!*win*"}, "a-linux"));
  CHECK_FALSE(globs_select({}, "a"));
}

TEST_CASE("the nearest word is offered only when it is near") {
  CHECK(nearest_word("kernals", {"kernel", "matrix", "kernels"}) == "kernels");
  CHECK(nearest_word("zzz", {"kernel", "matrix"}) == "");
  CHECK(suggestion("matrx", {"kernel", "matrix"}) == "did you mean \"matrix\"?");
  CHECK(suggestion("zzz", {"kernel", "matrix"}) == "one of: kernel, matrix");
}

TEST_CASE("the numbers that a text begins with") {
  CHECK(without_patch("2.11.0") == "2.11");
  CHECK(without_patch("12.8") == "12.8");
  CHECK(without_patch("13") == "13");
  CHECK(leading_number("12.8") == 12);
  CHECK(leading_number("cp312") == -1);
  CHECK(escaped_byte("%2B0") == 43);
  CHECK(escaped_byte("%e9") == 0xe9);
  for (const auto* text : {"", "%", "%2", "%2g", "2B%"}) CHECK(escaped_byte(text) == -1);
}
