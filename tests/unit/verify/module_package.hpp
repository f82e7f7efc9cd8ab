#pragma once
// A package of modules in memory, judged without an archive: for the checks of modules.

#include "inspect/module_reader.hpp"
#include "spec/name_readings.hpp"
#include "support/elf_builder.hpp"
#include "support/pe_builder.hpp"
#include "support/text.hpp"
#include "unit/verify/fixture.hpp"
#include "verify/judge.hpp"

#include <sagekit/naming.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace sagekit::test {

/// A stranger's wheel: right where a test changes nothing.
struct ModulePackage {
  std::string name = "tiny-1.0-cp312-cp312-manylinux_2_28_x86_64.whl";
  std::vector<std::string> requires_dist;
  std::string requires_python;
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<TorchSysroot> torches;

  WheelReport judge(Policy policy = Policy::others) const {
    WheelFacts wheel;
    wheel.requires_dist = requires_dist;
    wheel.requires_python = requires_python;
    Artifact artifact;
    const auto parsed = parse_wheel_name(name);
    REQUIRE(parsed);
    artifact.name = *parsed;
    artifact.wheel = &wheel;
    artifact.provenance = provenance_of({}, name_readings(artifact.name, {}, {}), requires_dist);
    for (const auto& [path, bytes] : files) artifact.members.push_back(read_module(path, Bytes(bytes), {}, 1).facts);
    std::ranges::sort(artifact.members, {}, &MemberFacts::path);
    FindingList findings(policy, std::vector<std::string>{});
    VerifyOptions options;
    options.torches = torches;
    ScriptedRunner runner;
    CheckResults results;
    for (const auto& check : checks()) {
      const auto first = check.codes.empty() ? "" : check.codes.front();
      if (first != "ELF007" && contains({"ELF", "PYA", "TAB", "LBC", "WIN"}, family(first)))
        REQUIRE(run_check(check, {artifact, options, runner, results}, findings));
    }
    return std::move(findings).report(name, "", {});
  }
};

/// An extension module of Python 3.12 that is right.
inline ModuleBuilder right_module(const std::string& init = "_a") {
  ModuleBuilder module;
  module.soname.clear();
  module.runpath = "$ORIGIN";
  module.exports = {"PyInit_" + init};
  module.undefined = {"malloc", "PyModule_Create2"};
  module.versions = {{"libc.so.6", {"GLIBC_2.2.5", "GLIBC_2.17"}}};
  module.segments = {{0x6474e552, ".dynamic"}};
  return module;
}

/// The package with one such module.
inline ModulePackage package_of(const ModuleBuilder& module, const std::string& path = "tiny/_a" + k_suffix) {
  ModulePackage package;
  package.files = {{path, module.build()}};
  return package;
}

/// The first finding of a code that is no pass; "" when there is none.
inline std::string said_of(const WheelReport& report, std::string_view code) {
  const auto found = trouble(report, code);
  return found.empty() ? "" : found[0].message;
}

/// What a code says, passed or not.
inline std::string told(const WheelReport& report, std::string_view code) {
  const auto found = std::ranges::find(report.findings, code, &Finding::code);
  return found == report.findings.end() ? "" : found->message;
}

inline bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Warned of under `others`, failed under `own`.
inline void check_warns(const ModulePackage& package, std::string_view code, std::string_view text) {
  const auto others = package.judge();
  CAPTURE(code);
  CHECK(others.pass);
  CHECK_MESSAGE(holds(said_of(others, code), text), said_of(others, code));
  CHECK_FALSE(package.judge(Policy::own).pass);
}

/// Failed under every policy.
inline void check_fails(const ModulePackage& package, std::string_view code, std::string_view text) {
  const auto others = package.judge();
  CAPTURE(code);
  CHECK_FALSE(others.pass);
  CHECK_MESSAGE(holds(said_of(others, code), text), said_of(others, code));
}

}  // namespace sagekit::test
