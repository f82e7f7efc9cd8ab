#include "support/file.hpp"
#include "support/json.hpp"

#include <sagekit/plugin_conformance.hpp>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

using namespace sagekit;
namespace fs = std::filesystem;

namespace {

/// The failed tests and their messages, of a trusted copy of one test plugin.
std::map<std::string, std::string> failures(const std::string& name, double timeout_seconds = 20) {
  const auto folder = TemporaryFolder::create("/tmp", "sagekit conformance \xc3\xa9").value();
  const fs::path file = folder.path() / ("sagekit-" + name + ".so");
  fs::copy_file(fs::path(SAGEKIT_TEST_PLUGINS) / file.filename(), file);
  ::chmod(file.c_str(), 0755);
  const auto runner = make_local_runner();
  // A sanitized child must die of a signal as any other does, not of its sanitizer's report.
  const std::map<std::string, std::string> environment{{"ASAN_OPTIONS", "handle_segv=0"}};
  const auto report = check_plugin(file, {SAGEKIT_CONFORMANCE_CHILD, environment, timeout_seconds}, *runner);
  REQUIRE_MESSAGE(report, report.error().message);
  CHECK(report->results.size() == conformance_tests().size());
  std::map<std::string, std::string> out;
  for (const ConformanceResult& result : report->results) {
    if (!result.passed) out[result.id] = result.message;
  }
  CHECK(report->passed() == out.empty());
  return out;
}

std::set<std::string> ids(const std::map<std::string, std::string>& failed) {
  std::set<std::string> out;
  for (const auto& [id, message] : failed) out.insert(id);
  return out;
}

const std::set<std::string> k_judge_tests = {"judge-empty", "judge-minimal", "judge-extreme", "judge-same",
                                             "judge-codes"};

/// Says what a real child would have said.
class FakeRunner : public CommandRunner {
 public:
  explicit FakeRunner(CommandResult result) : m_result(std::move(result)) {}
  Result<CommandResult> run(const Command& command, std::stop_token) override {
    commands.push_back(command);
    return m_result;
  }
  std::vector<Command> commands;

 private:
  CommandResult m_result;
};

}  // namespace

TEST_CASE("a good plugin passes every test") { CHECK(failures("good") == std::map<std::string, std::string>{}); }

TEST_CASE("a plugin that does not load fails every test, with the reason") {
  const auto failed = failures("newer-abi");
  CHECK(failed.size() == conformance_tests().size() - 1);  // its one symbol is right
  CHECK(failed.at("load").find("PLG004") != std::string::npos);
  CHECK(failed.at("judge-empty").find("not loaded") != std::string::npos);
}

TEST_CASE("an invalid spec fails the test of the spec, not that of the load") {
  const auto failed = failures("unknown-key");
  CHECK_FALSE(failed.contains("load"));
  CHECK(failed.at("spec").find("plugin.toml:7:1") != std::string::npos);
  CHECK(failed.at("spec").find("did you mean") != std::string::npos);
}

TEST_CASE("a judge that throws fails its tests, wrapped or not") {
  for (const char* name : {"throwing", "throwing-raw"}) {
    const auto failed = failures(name);
    CHECK(ids(failed) == std::set<std::string>{"judge-empty", "judge-minimal", "judge-extreme"});
  }
}

TEST_CASE("a judge that crashes is a failed test, and the others go on") {
  const auto failed = failures("crashing");
  CHECK(ids(failed) == std::set<std::string>{"judge-empty", "judge-same", "judge-codes"});
  CHECK(failed.at("judge-empty").find("crashed") != std::string::npos);
}

TEST_CASE("a judge that hangs is a failed test") {
  const auto failed = failures("hanging", 0.5);
  CHECK(ids(failed) == k_judge_tests);
  CHECK(failed.at("judge-empty") == "did not end within 0.5 s");
}

TEST_CASE("a judge that leaves the process with success has not passed") {
  const auto failed = failures("leaving");
  CHECK(ids(failed) == k_judge_tests);
  CHECK(failed.at("judge-empty").find("no verdict") != std::string::npos);
}

TEST_CASE("bad manners are found: symbols, writable descriptor, moods, codes") {
  const auto failed = failures("moody");
  CHECK(ids(failed) == std::set<std::string>{"constant", "exports", "judge-same", "judge-codes"});
  CHECK(failed.at("exports") == "it exports 1 symbols besides sagekit_plugin: calls");
}

TEST_CASE("a plugin that works while it is opened is slow") {
  CHECK(ids(failures("slow")) == std::set<std::string>{"load-time"});
}

TEST_CASE("a plugin belongs in a file of its name") {
  CHECK(ids(failures("same-name")) == std::set<std::string>{"file-name"});
}

TEST_CASE("the child is started as the host promises, and its verdict is the marked line") {
  const auto folder = TemporaryFolder::create("/tmp", "sagekit-conformance").value();
  const fs::path file = folder.path() / "x.so";
  REQUIRE(write_file_atomic(file, "x"));
  CommandResult child;
  child.output = "noise\n" + conformance_line({"load", "", true, "fine", 0});
  FakeRunner runner(child);
  const auto report = check_plugin(file, {"/bin/sagekit", {{"LANG", "C"}}, 3}, runner);
  REQUIRE(report);
  CHECK(runner.commands.at(0).argv ==
        std::vector<std::string>{"/bin/sagekit", "plugin", "check-one", file.string(), "load"});
  CHECK(runner.commands.at(0).environment == std::map<std::string, std::string>{{"LANG", "C"}});
  CHECK(report->results.at(0).passed);
  CHECK(report->results.at(0).message == "fine");
  CHECK_FALSE(report->results.at(1).passed);  // the line speaks of another test

  const auto json = parse_json(conformance_json({*report}));
  CHECK(json["schema"] == "sagekit.plugin-check/1");
  CHECK(json["plugins"].at(0)["passed"] == false);
  CHECK(json["plugins"].at(0)["tests"].at(0)["id"] == "load");
  CHECK(json["plugins"].at(0)["tests"].size() == conformance_tests().size());
}

TEST_CASE("no file and no such test are usage errors") {
  FakeRunner runner({});
  CHECK(check_plugin("/nonexistent", {}, runner).error().code == "PLG002");
  const auto error = run_conformance_test("/nonexistent", "judge-emty").error();
  CHECK(error.code == "PLG009");
  CHECK(error.hint.find("judge-empty") != std::string::npos);
}
