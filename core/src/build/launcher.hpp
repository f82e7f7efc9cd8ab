#pragma once
// Compilers started through another program: sccache, ccache, distcc.

#include <sagekit/command.hpp>

#include <map>
#include <string>

namespace sagekit {

/// Starts what compiles through `launcher`, with its own variables besides; everything else (dry runs, links, git,
/// Python) as it is. An empty launcher changes nothing. `runner` must outlive it.
class LaunchingRunner final : public CommandRunner {
 public:
  LaunchingRunner(std::string launcher, std::map<std::string, std::string> environment, CommandRunner& runner)
      : m_launcher(std::move(launcher)), m_environment(std::move(environment)), m_runner(runner) {}
  Result<CommandResult> run(const Command& command, std::stop_token stop) override;

 private:
  std::string m_launcher;
  std::map<std::string, std::string> m_environment;
  CommandRunner& m_runner;
};

/// Does it compile one input to one output? By the program's name and its options, not by their places.
bool compiles(const std::vector<std::string>& argv);

}  // namespace sagekit
