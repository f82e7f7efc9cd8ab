#include <sagekit/arch.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace sagekit;

TEST_CASE("names of arches and gencodes") {
  const Arch arch{{12, 1}, ArchSuffix::a};
  CHECK(to_string(arch) == "12.1a");
  CHECK(sm_name(arch) == "sm_121a");
  CHECK(compute_name(arch) == "compute_121a");
  CHECK(to_string(Gencode{arch, arch, false}) == "arch=compute_121a,code=sm_121a");
  const Arch plain{{8, 0}, ArchSuffix::none};
  CHECK(to_string(Gencode{plain, plain, true}) == "arch=compute_80,code=compute_80");
}

TEST_CASE("capabilities and arches of a spec have one spelling") {
  CHECK(parse_capability("12.1") == Capability{12, 1});
  for (const char* text : {"121", "9.0a", "9", "", "9.0 ", "sm_90"}) CHECK_MESSAGE(!parse_capability(text), text);
  CHECK(parse_arch("12.0f") == Arch{{12, 0}, ArchSuffix::f});
  CHECK(parse_arch("9.0") == Arch{{9, 0}, ArchSuffix::none});
  for (const char* text : {"90a", "9.0A", "9.0b", "a", ""}) CHECK_MESSAGE(!parse_arch(text), text);
}

TEST_CASE("machine code reaches as far as its suffix says") {
  const auto arch = [](const char* text) { return parse_arch(text).value(); };
  CHECK(code_runs_on(arch("12.0"), {12, 1}));
  CHECK_FALSE(code_runs_on(arch("12.1"), {12, 0}));
  CHECK_FALSE(code_runs_on(arch("12.0a"), {12, 1}));
  CHECK(code_runs_on(arch("12.0f"), {12, 1}));
  CHECK(code_runs_on(arch("8.0"), {8, 9}));
  CHECK_FALSE(code_runs_on(arch("8.0"), {9, 0}));
  CHECK(ptx_reaches(arch("8.0"), {12, 1}));
  CHECK_FALSE(ptx_reaches(arch("9.0a"), {10, 0}));
  CHECK(ptx_reaches(arch("12.0f"), {12, 1}));
  CHECK_FALSE(ptx_reaches(arch("9.0"), {8, 9}));
}
