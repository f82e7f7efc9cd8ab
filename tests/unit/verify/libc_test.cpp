#include "unit/verify/fixture.hpp"

using namespace sagekit;
using namespace sagekit::test;

namespace {

using Versions = std::vector<std::pair<std::string, std::vector<std::string>>>;

DemoBuild with_versions(const Versions& versions, const std::map<std::string, std::string>& symbols,
                        std::uint16_t machine = 62) {
  DemoBuild demo;
  auto module = demo_module("_a", {{80, 0}, {90, 'a'}});
  module.machine = machine;
  module.versions = versions;
  module.symbol_versions = symbols;
  for (const auto& [name, version] : symbols) module.undefined.push_back(name);
  demo.files["demo/_a" + k_suffix] = module.build();
  return demo;
}

Spec with_floor(const std::string& floor) {
  auto spec = demo_spec();
  spec.build.glibc_floor = floor;
  return spec;
}

std::string said(const WheelReport& report, std::string_view code) {
  const auto found = std::ranges::find(report.findings, code, &Finding::code);
  return found == report.findings.end() ? "" : found->message;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a module above the declared floor fails, and the symbol is named") {
  auto demo = with_versions({{"libc.so.6", {"GLIBC_2.14", "GLIBC_2.32"}}},
                            {{"memcpy", "GLIBC_2.14"}, {"__libc_single_threaded", "GLIBC_2.32"}});
  const auto report = judge_build(demo, with_floor("2.17"));
  const auto found = trouble(report, "LBC004");
  REQUIRE(found.size() == 1);
  CHECK_FALSE(report.pass);
  CHECK(has(found[0].message, "GLIBC_2.32 for __libc_single_threaded"));
  CHECK(has(found[0].message, "2.17"));
  CHECK(found[0].where == "demo/_a" + k_suffix);
}

TEST_CASE("a module at its floor passes; without a floor nothing is judged; strangers are only told") {
  auto demo = with_versions({{"libc.so.6", {"GLIBC_2.32"}}}, {});
  CHECK(passed(judge_build(demo, with_floor("2.32")), "LBC004"));
  const auto without = judge_build(demo, with_floor("")).findings;
  const auto floor = std::ranges::find(without, "LBC004", &Finding::code);
  REQUIRE(floor != without.end());
  CHECK(floor->result == FindingResult::skipped);
  VerifyOptions others;
  others.policy = "others";
  const auto told = judge_build(demo, with_floor("2.17"), others);
  CHECK(passed(told, "LBC004"));
  CHECK(has(said(told, "LBC004"), "GLIBC_2.32"));
}

TEST_CASE("on aarch64 no floor is below 2.17") {
  const auto fails = [](const std::string& version, std::uint16_t machine) {
    auto demo = with_versions({{"libc.so.6", {version}}}, {}, machine);
    return std::ranges::count(trouble(judge_build(demo, with_floor("2.12")), "LBC004"), "demo/_a" + k_suffix,
                              &Finding::where) > 0;
  };
  CHECK_FALSE(fails("GLIBC_2.17", 183));
  CHECK(fails("GLIBC_2.18", 183));
  CHECK(fails("GLIBC_2.17", 62));
}

TEST_CASE("the oldest tag is said with the symbol that decides it") {
  auto demo = with_versions({{"libc.so.6", {"GLIBC_2.14"}}, {"libstdc++.so.6", {"GLIBCXX_3.4.21", "CXXABI_1.3"}}},
                            {{"memcpy", "GLIBC_2.14"}, {"_ZNSt13runtime_errorC1EPKc", "GLIBCXX_3.4.21"}});
  const auto report = judge_build(demo, demo_spec());
  const auto text = said(report, "LBC005");
  CAPTURE(text);
  CHECK(has(text, "manylinux_2_24_x86_64"));
  CHECK(has(text, "GLIBCXX_3.4.21 for std::runtime_error (_ZNSt13runtime_errorC1EPKc)"));
  CHECK(has(text, "of glibc alone GLIBC_2.17"));  // the other modules'
  CHECK(report.pass);
}

TEST_CASE("a version that no tag has is said to be so") {
  auto demo = with_versions({{"libstdc++.so.6", {"GLIBCXX_3.4.99"}}}, {});
  CHECK(has(said(judge_build(demo, demo_spec()), "LBC005"), "no known manylinux tag has GLIBCXX_3.4.99"));
}

TEST_CASE("the tag of the torch that is declared is said beside it") {
  const auto folder = scratch();
  REQUIRE(write_file_atomic(folder.path() / "torch-2.11.0.dist-info" / "WHEEL",
                            "Wheel-Version: 1.0\nTag: cp312-cp312-manylinux_2_28_x86_64\n"));
  VerifyOptions options;
  options.torches = {{.root = folder.path() / "torch",
                      .version = "2.11.0",
                      .local = {},
                      .cuda = "13.0",
                      .platform = "linux_x86_64",
                      .python = {},
                      .interpreter = {},
                      .source = {},
                      .identity = {},
                      .ready = true,
                      .why_not = {}}};
  DemoBuild demo;
  CHECK(has(said(judge_build(demo, demo_spec(), options), "LBC005"),
            "torch 2.11.0 itself is tagged manylinux_2_28_x86_64"));
}
