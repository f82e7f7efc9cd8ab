#include "pypa/version_order.hpp"

#include <doctest/doctest.h>

using namespace sagekit;

namespace {

PythonRelease release(std::string_view text) {
  const auto parsed = PythonRelease::parse(text);
  REQUIRE_MESSAGE(parsed, text);
  return *parsed;
}

}  // namespace

TEST_CASE("versions sort as PEP 440 says") {
  // The list of PEP 440's "Summary of permitted suffixes and relative ordering", with the local parts of wheels.
  const std::vector<std::string_view> order = {"1.dev0",
                                               "1.0.dev456",
                                               "1.0a1",
                                               "1.0a2.dev456",
                                               "1.0a12.dev456",
                                               "1.0a12",
                                               "1.0b1.dev456",
                                               "1.0b2",
                                               "1.0b2.post345.dev456",
                                               "1.0b2.post345",
                                               "1.0rc1.dev456",
                                               "1.0rc1",
                                               "1.0",
                                               "1.0+abc.5",
                                               "1.0+abc.7",
                                               "1.0+5",
                                               "1.0.post456.dev34",
                                               "1.0.post456",
                                               "1.0.15",
                                               "1.1.dev1",
                                               "2.2.0",
                                               "2.2.0+cu128torch2.6.0",
                                               "2.2.0+cu130.torch2.9.20260101",
                                               "2.2.0+cu130.torch2.11.20260117",
                                               "2.2.0.post6",
                                               "1!0.1"};
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    CAPTURE(order[i]);
    CAPTURE(order[i + 1]);
    if (order[i] != "1.dev0") CHECK(release(order[i]) < release(order[i + 1]));
    CHECK(release(order[i]) == release(order[i]));
  }
  CHECK(release("2.11") == release("2.11.0"));
  CHECK(release("2.10") > release("2.9.1"));
  CHECK_FALSE(PythonRelease::parse("torch"));
  CHECK_FALSE(PythonRelease::parse("1.99999999999999999999"));
}

TEST_CASE("specifiers allow what packaging says they allow") {
  struct Row {
    std::string_view specifiers, version;
    std::optional<bool> allowed;
  };
  for (const Row& row : std::initializer_list<Row>{{"", "2.9.1", true},
                                                   {"==2.9.*", "2.9.1+cu130", true},
                                                   {"==2.9.*", "2.10.0", false},
                                                   {"==2.1.*", "2.10.0", false},
                                                   {"==2.10.*", "2.1.0", false},
                                                   {"==2.10.*", "2.10.0.dev20251101", true},
                                                   {"==2.9.1", "2.9.1+cu130", true},
                                                   {"==2.9.1+cu128", "2.9.1+cu130", false},
                                                   {"===2.9.1", "2.9.1", true},
                                                   {">=2.10", "2.10.0.dev20251101", false},
                                                   {">=2.9,<2.10", "2.9.1+cu130", true},
                                                   {"<2.10", "2.10.0.dev20251101", false},
                                                   {"<2.10.0rc1", "2.10.0.dev20251101", true},
                                                   {">2.9", "2.9.0.post1", false},
                                                   {">2.9", "2.9.1", true},
                                                   {"~=2.9", "2.11.0", true},
                                                   {"~=2.9.0", "2.10.0", false},
                                                   {"!=2.9.0,>=2.8", "2.9.0", false},
                                                   {">=3.9", "3.12", true},
                                                   {"nonsense", "2.9.1", std::nullopt},
                                                   {">=2.9", "x", std::nullopt}}) {
    CAPTURE(row.specifiers);
    CAPTURE(row.version);
    CHECK(specifiers_allow(row.specifiers, row.version) == row.allowed);
  }
}
