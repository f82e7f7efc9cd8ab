#include "unit/verify/fixture.hpp"

#include <sagekit/plugin/rules.hpp>

using namespace sagekit;
using namespace sagekit::test;

namespace {

// A plugin's judge as an author writes it: it sees modules, their GPU code and the files' text, and speaks in findings.
void look(const rules::Artifact& artifact, const rules::Reporter& report) {
  for (const auto& module : artifact.modules()) report.note("DEMO001", "saw a module", module.path());
  const auto init = artifact.read_file("demo/__init__.py");
  if (!init) report.error("DEMO002", "there is no __init__.py", "demo/__init__.py");
  if (init && init->find("telemetry") != std::string_view::npos)
    report.error("DEMO003", "it calls home", "demo/__init__.py");
}

WheelReport judged(DemoBuild& demo, sagekit_verify_fn verify) {
  static const std::string k_text = k_demo_toml;
  const sagekit_descriptor descriptor{
      SAGEKIT_PLUGIN_ABI, sizeof(sagekit_descriptor), k_text.data(), k_text.size(), nullptr, verify};
  const auto plugin = Plugin::from_descriptor(descriptor, "/plugins/sagekit-demo.so", std::string(64, '0'));
  REQUIRE_MESSAGE(plugin, plugin.error().message);
  const auto folder = scratch();
  ScriptedRunner runner;
  const auto verdict = verify_build(plugin->spec(), &*plugin, demo.stage(folder.path()), {}, runner);
  REQUIRE(verdict);
  return *verdict ? (*verdict)->report() : verdict->error();
}

void judge(const sagekit_artifact* artifact, const sagekit_report* report) { rules::run(look, *artifact, *report); }
void thrower(const sagekit_artifact*, const sagekit_report*) { throw std::runtime_error("a rule without a wrapper"); }

}  // namespace

TEST_CASE("a plugin's judge sees the build, and its findings are the report's") {
  DemoBuild demo;
  const auto report = judged(demo, judge);
  CHECK_MESSAGE(report.pass, failures(report));
  CHECK(trouble(report, "DEMO002").empty());
  CHECK(std::ranges::count(report.findings, "DEMO001", &Finding::code) >= 2);
}

TEST_CASE("an error of a plugin's judge fails the wheel") {
  DemoBuild demo;
  demo.files["demo/__init__.py"] = "import telemetry\n";
  const auto report = judged(demo, judge);
  CHECK_FALSE(report.pass);
  REQUIRE(trouble(report, "DEMO003").size() == 1);
  CHECK(trouble(report, "DEMO003").front().where == "demo/__init__.py");
}

TEST_CASE("a judge that throws fails the wheel and nothing else") {
  DemoBuild demo;
  const auto report = judged(demo, thrower);
  CHECK_FALSE(report.pass);
  CHECK(trouble(report, "rule-threw").size() == 1);
}
