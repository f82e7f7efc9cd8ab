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

TEST_CASE("versions written out sort as versions") {
  CHECK(version_less("3.9", "3.10"));
  CHECK_FALSE(version_less("3.10", "3.9"));
  CHECK(version_less("2.8.0", "2.11.0"));
  CHECK(version_less("3.13", "3.13t"));
  CHECK(version_less("3.13t", "3.14"));
  CHECK(version_less("", "2.8"));
  CHECK_FALSE(version_less("12.8", "12.8"));
  CHECK(version_less("2.08", "2.8"));
  CHECK_FALSE(version_less("2.8", "2.08"));
  CHECK(version_less("linux_aarch64", "linux_x86_64"));
}

TEST_CASE("a version is read in every spelling that ids and file names have") {
  struct Row {
    const char* text;
    const char* version;  ///< "" = none
  };
  const auto check = [](auto parse, std::initializer_list<Row> rows) {
    for (const auto& row : rows) {
      const auto version = parse(row.text);
      CHECK_MESSAGE(version.value_or("") == row.version, row.text);
      if (version) continue;
      CHECK(version.error().code == "VER004");
      CHECK(version.error().message.find('"' + std::string(row.text) + '"') != std::string::npos);
    }
  };
  check(parse_cuda_version, {{"12.8", "12.8"},
                             {"128", "12.8"},
                             {"cu128", "12.8"},
                             {"cu12.8", "12.8"},
                             {"13", "13"},
                             {"cu13", "13"},
                             {"130", "13.0"},
                             {"12.8.1", "12.8.1"},
                             {"9", "9"},
                             {"cu", ""},
                             {"", ""},
                             {"cuda", ""},
                             {"12345", ""},
                             {"cu12x", ""},
                             {"cp312", ""}});
  check(parse_python_version, {{"3.12", "3.12"},
                               {"312", "3.12"},
                               {"cp312", "3.12"},
                               {"python312", "3.12"},
                               {"py39", "3.9"},
                               {"cp313t", "3.13t"},
                               {"3.13t", "3.13t"},
                               {"3", "3"},
                               {"3.9.1", "3.9.1"},
                               {"cu128", ""},
                               {"t", ""},
                               {"3.x", ""},
                               {"31234", ""}});
  check(parse_torch_version, {{"2.11", "2.11"},
                              {"2.11.0", "2.11.0"},
                              {"torch2.11", "2.11"},
                              {"pytorch211", "2.11"},
                              {"pytorch28", "2.8"},
                              {"2.11.0+cu130", "2.11.0"},
                              {"2", "2"},
                              {"torch", ""},
                              {"v2.8", ""}});
}
