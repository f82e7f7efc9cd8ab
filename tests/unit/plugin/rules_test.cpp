#include "plugin/judge.hpp"
#include "plugin/sample_artifacts.hpp"
#include "support/file.hpp"

#include <sagekit/plugin/rules.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace rules = sagekit::rules;

namespace {

void judge(const rules::Artifact& wheel, const rules::Reporter& report) {
  std::string head;
  for (const auto part : {wheel.distribution(), wheel.version(), wheel.python(), wheel.torch(), wheel.cuda()}) {
    head.append(part).append("/");
  }
  report.note("HEAD", head + std::string(wheel.platform()));
  for (const rules::Module module : wheel.modules()) {
    for (const rules::GpuCode code : module.gpu())
      report.warning("GPU", std::to_string(code.capability), module.path());
    if (contains(module.undefined(), "malloc")) report.error("MAL", *module.needed().begin(), module.name());
  }
  if (const auto init = wheel.read_file("package/__init__.py")) report.note("INIT", *init);
  if (!wheel.read_file("absent") && !wheel.module("absent")) report.note("ABSENT", "x");
  if (wheel.version() == "throw") throw std::string("no std::exception");
}

}  // namespace

SAGEKIT_RULES(judge)

using namespace sagekit;

TEST_CASE("rules read an artifact with C++ views") {
  const auto findings = run_judge(sagekit_plugin_rules, minimal_artifact({}));
  CHECK(findings == std::vector<PluginFinding>{{Severity::note, "HEAD", "/1.0/3.12/2.11.0/13.0/linux_x86_64", ""},
                                               {Severity::warning, "GPU", "90", "package/module.so"},
                                               {Severity::error, "MAL", "libc.so.6", "package.module"},
                                               {Severity::note, "INIT", "import torch ", ""},
                                               {Severity::note, "ABSENT", "x", ""}});
}

TEST_CASE("rules that throw report it themselves") {
  JudgedArtifact artifact;
  artifact.version = "throw";
  const auto findings = run_judge(sagekit_plugin_rules, artifact);
  CHECK(findings.back() == PluginFinding{Severity::error, "rule-threw", "something that is not a std::exception", ""});
  static_assert(noexcept(sagekit_plugin_rules(nullptr, nullptr)));
}

TEST_CASE("rules survive the extreme artifact") {
  CHECK_FALSE(run_judge(sagekit_plugin_rules, extreme_artifact({})).empty());
}

TEST_CASE("the judge that the documentation shows is the one that is compiled and tested") {
  const std::filesystem::path top = SAGEKIT_SOURCE_DIR;
  const std::string page = read_file(top / "docs/plugin-authors.md").value();
  const std::string code = read_file(top / "tests/package/rules_plugin/rules.cpp").value();
  const std::string body = code.substr(code.find('\n') + 1);
  CHECK(page.find("```cpp\n" + body + "```\n") != std::string::npos);
}
