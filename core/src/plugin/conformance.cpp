#include "plugin/conformance_tests.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/plugin_conformance.hpp>

#include <algorithm>
#include <cstring>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_mark = "sagekit-conformance";

std::string line_start(std::string_view test) { return fmt::format("{} {} ", k_mark, test); }

// A judge may print what it likes; the verdict is the last line that bears the mark.
std::string verdict_of(const std::string& output, std::string_view test) {
  std::string verdict;
  for (const std::string& line : split(output, '\n')) {
    if (line.starts_with(line_start(test))) verdict = line.substr(line_start(test).size());
  }
  return verdict;
}

ConformanceResult read_child(const ConformanceTest& test, const CommandResult& child, double timeout_seconds) {
  ConformanceResult result{std::string(test.id), std::string(test.promise), false, "", child.wall_seconds};
  const std::string verdict = verdict_of(child.output, test.id);
  if (child.timed_out) {
    result.message = fmt::format("did not end within {:g} s", timeout_seconds);
  } else if (child.signal != 0) {
    result.message = fmt::format("crashed: {} (signal {})", ::strsignal(child.signal), child.signal);
  } else if (verdict.starts_with("passed") && child.exit_code == 0) {
    result.passed = true;
    result.message = trim(verdict.substr(6));
  } else if (verdict.starts_with("failed")) {
    result.message = trim(verdict.substr(6));
  } else {
    const std::string output = trim(child.output);
    result.message = fmt::format("ended the process with exit code {} and no verdict{}{}", child.exit_code,
                                 output.empty() ? "" : ": ", output.substr(0, 500));
  }
  return result;
}

}  // namespace

const std::vector<ConformanceTest>& conformance_tests() {
  static const std::vector<ConformanceTest> tests = [] {
    std::vector<ConformanceTest> out;
    std::ranges::transform(conformance_rules(), std::back_inserter(out), &ConformanceRule::test);
    return out;
  }();
  return tests;
}

Result<ConformanceResult> run_conformance_test(const fs::path& file, std::string_view test) {
  const auto& rules = conformance_rules();
  const auto rule = std::ranges::find(rules, test, [](const ConformanceRule& r) { return r.test.id; });
  if (rule == rules.end()) {
    std::vector<std::string> ids;
    for (const ConformanceRule& r : rules) ids.emplace_back(r.test.id);
    return fail(ErrorKind::usage, "PLG009", fmt::format("there is no conformance test \"{}\"", test),
                suggestion(test, ids));
  }
  ConformanceAnswer judgement = rule->run(file);
  return ConformanceResult{std::string(rule->test.id), std::string(rule->test.promise), judgement.passed,
                           std::move(judgement.message), 0};
}

std::string conformance_line(const ConformanceResult& result) {
  const std::string message = replace_all(result.message, "\n", " ");
  return fmt::format("\n{}{} {}\n", line_start(result.id), result.passed ? "passed" : "failed", message);
}

bool ConformanceReport::passed() const {
  return !results.empty() && std::ranges::all_of(results, &ConformanceResult::passed);
}

Result<ConformanceReport> check_plugin(const fs::path& file, const ConformanceOptions& options, CommandRunner& runner,
                                       std::stop_token stop) {
  std::error_code error;
  const fs::path path = fs::absolute(file, error);
  if (file.empty() || !fs::is_regular_file(path, error)) {
    return fail(ErrorKind::usage, "PLG002",
                fmt::format("cannot open plugin {}: {}", file.string(), error ? error.message() : "it is not a file"),
                "name the sagekit-NAME.so that cmake --build made, in lib/sagekit/plugins of its build folder");
  }
  ConformanceReport report{path, {}};
  for (const ConformanceTest& test : conformance_tests()) {
    Command command;
    command.argv = {options.executable.string(), "plugin", "check-one", path.string(), std::string(test.id)};
    command.environment = options.child_environment;
    command.timeout_seconds = options.timeout_seconds;
    TRY_ASSIGN(const CommandResult child, runner.run(command, stop));
    report.results.push_back(read_child(test, child, options.timeout_seconds));
  }
  return report;
}

std::string conformance_json(const std::vector<ConformanceReport>& reports) {
  Json json{{"schema", "sagekit.plugin-check/1"}, {"plugins", Json::array()}};
  for (const ConformanceReport& report : reports) {
    Json tests = Json::array();
    for (const ConformanceResult& result : report.results) {
      tests.push_back({{"id", result.id},
                       {"promise", result.promise},
                       {"passed", result.passed},
                       {"message", result.message},
                       {"seconds", result.seconds}});
    }
    json["plugins"].push_back(
        {{"path", report.file.string()}, {"passed", report.passed()}, {"tests", std::move(tests)}});
  }
  return json_text(json);
}

}  // namespace sagekit
