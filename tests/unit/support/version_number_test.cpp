#include <sagekit/version_number.hpp>

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

bool in(const char* version, const char* range) {
  return parse_version_range(range).value().contains(parse_version_number(version).value());
}

}  // namespace

TEST_CASE("versions compare number by number") {
  const auto v = [](const char* text) { return parse_version_number(text).value(); };
  CHECK(v("12.8") == v("12.8.0"));
  CHECK(v("2.11.0") > v("2.9.1"));
  CHECK(v("12.8") < v("12.8.1"));
  CHECK(to_string(v("2.11.0")) == "2.11.0");
  CHECK(v("2.11.0").minor() == 11);
}

TEST_CASE("only digits and dots are a version number") {
  for (const char* text : {"", ".", "12.", ".8", "2.11.0+cu130", "1.0rc1", "v1", "1..2", "-1", "1.99999999999"})
    CHECK_MESSAGE(!parse_version_number(text), text);
}

TEST_CASE("a range holds when all its terms do") {
  CHECK(in("12.8", ">=12.8,<14"));
  CHECK_FALSE(in("14.0", ">=12.8, <14"));
  CHECK_FALSE(in("12.7", ">=12.8"));
  CHECK(in("2.9.1", "==2.9.*"));
  CHECK_FALSE(in("2.10.0", "==2.9.*"));
  CHECK(in("2.10.0", "!=2.9.*"));
  CHECK(in("2.10", "==2.10.0"));
  CHECK(in("3", ">2.99"));
  CHECK(in("2.0", "<=2"));
  CHECK(in("1.0", ""));
}

TEST_CASE("what is no range is refused") {
  for (const char* text : {"12.8", "=>12.8", ">=", ">=12.8,", ">=2.9.*", "~=2.9", ">=12.8 <14"})
    CHECK_MESSAGE(!parse_version_range(text), text);
}
