#include "build/launcher.hpp"

#include "support/text.hpp"

#include <algorithm>
#include <filesystem>

namespace sagekit {

bool compiles(const std::vector<std::string>& argv) {
  if (argv.empty()) return false;
  const auto program = std::filesystem::path(argv.front()).filename().string();
  const auto is = [&](std::string_view flag) { return contains(argv, flag); };
  if (is("--dryrun") || is("-dryrun") || is("-E") || is("-shared")) return false;
  if (is("assembler")) return false;  // what it takes in by .incbin no launcher sees
  if (program == "cicc" || program == "ptxas") return true;
  if (program == "nvcc") return is("-c") || is("-cubin") || is("--cubin");
  const auto ends = [&](std::string_view name) { return program.find(name) != std::string::npos; };
  return is("-c") && (ends("g++") || ends("gcc") || ends("clang") || ends("c++"));
}

Result<CommandResult> LaunchingRunner::run(const Command& command, std::stop_token stop) {
  if (m_launcher.empty() || !compiles(command.argv)) return m_runner.run(command, stop);
  Command launched = command;
  launched.argv.insert(launched.argv.begin(), m_launcher);
  for (const auto& [name, value] : m_environment) launched.environment.insert_or_assign(name, value);
  return m_runner.run(launched, stop);
}

}  // namespace sagekit
