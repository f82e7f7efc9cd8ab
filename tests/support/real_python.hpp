#pragma once
// The python3 and the C compiler of PATH, for tests that need real ones and are skipped without.

#include <sagekit/command.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sagekit::test {

struct RealPython {
  std::string path, version;  ///< version: "3.12"
  std::map<std::string, std::string> environment;
};

inline std::map<std::string, std::string> plain_environment() {
  std::map<std::string, std::string> environment;
  for (const char* name : {"PATH", "HOME", "TMPDIR"})
    if (const char* value = std::getenv(name)) environment[name] = value;
  return environment;
}

inline std::optional<RealPython> find_python() {
  Command probe;
  probe.argv = {"/usr/bin/env", "python3", "-c", "import sys; print(sys.executable, '%d.%d' % sys.version_info[:2])"};
  probe.environment = plain_environment();
  const auto said = make_local_runner()->run(probe);
  if (!said || !said->ok()) {
    MESSAGE("skipped: no python3 on PATH");
    return {};
  }
  const auto blank = said->output.rfind(' ');
  return RealPython{said->output.substr(0, blank), said->output.substr(blank + 1, said->output.find('\n') - blank - 1),
                    probe.environment};
}

/// Runs `cc` with these arguments in a folder; false = there is none (said) or it failed.
inline bool compile(std::vector<std::string> arguments, const std::string& folder) {
  Command command;
  command.argv = {"/usr/bin/env", "cc"};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = plain_environment();
  command.working_directory = folder;
  const auto said = make_local_runner()->run(command);
  if (said && said->ok()) return true;
  MESSAGE("skipped: no C compiler on PATH that makes the test's library");
  return false;
}

}  // namespace sagekit::test
