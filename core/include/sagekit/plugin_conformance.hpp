#pragma once
// The conformance kit behind `sagekit plugin check`: every test runs in a child process of its own, so that a plugin
// that crashes or hangs is one failed test.

#include <sagekit/command.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct ConformanceTest {
  std::string_view id;       ///< "judge-empty": stable
  std::string_view promise;  ///< what holds when it passes
};

/// All tests, in the order in which they run.
SAGEKIT_API const std::vector<ConformanceTest>& conformance_tests();

struct ConformanceResult {
  std::string id;
  std::string promise;
  bool passed = false;
  std::string message;  ///< why not; of a passed test what was seen, may be empty
  double seconds = 0;   ///< wall clock of the child
};

struct ConformanceReport {
  std::filesystem::path file;
  std::vector<ConformanceResult> results;  ///< one a test, in their order

  SAGEKIT_API bool passed() const;  ///< every test, and there are some
};

struct ConformanceOptions {
  /// The program that runs one test: started as `EXECUTABLE plugin check-one FILE TEST`, it calls
  /// run_conformance_test, prints conformance_line and exits 0 (passed) or 1.
  std::filesystem::path executable;
  std::map<std::string, std::string> child_environment;
  double timeout_seconds = 20;  ///< of one test; its process group is killed after it
};

/// Runs every test on one plugin file. Errors: PLG002 when there is no such file, the runner's own when the executable
/// does not start or the user stopped it. A failed test is a result. Without a plugin that loads, the others fail too.
SAGEKIT_API Result<ConformanceReport> check_plugin(const std::filesystem::path& file, const ConformanceOptions& options,
                                                   CommandRunner& runner, std::stop_token stop = {});

/// The child's half: loads the plugin into this process and runs one test. Error PLG009 (usage): no such test.
SAGEKIT_API Result<ConformanceResult> run_conformance_test(const std::filesystem::path& file, std::string_view test);

/// What the child prints on stdout, newline included: a judge that calls exit(0) has not passed.
SAGEKIT_API std::string conformance_line(const ConformanceResult& result);

/// {"schema":"sagekit.plugin-check/1","plugins":[{"path","passed","tests":[{"id","promise","passed","message",
/// "seconds"}]}]}
SAGEKIT_API std::string conformance_json(const std::vector<ConformanceReport>& reports);

}  // namespace sagekit
