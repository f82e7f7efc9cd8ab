#pragma once
// One compile step of nvcc, whole or in halves: for another CPU than this machine's the device code of the same step is
// taken from the store, when it is there, and only the host code is compiled (docs/decisions/0008).

#include "build/store.hpp"

#include <sagekit/command.hpp>
#include <sagekit/plan.hpp>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace sagekit {

/// What decides about a step's device code, as words of a key: its argv without outputs and without the CPU.
struct DeviceStep {
  std::string platform;           ///< that the step is for
  std::vector<std::string> argv;  ///< symbolic, P left out of every symbol
};

/// Nothing for a step that is no nvcc compile.
std::optional<DeviceStep> device_step(const Step& step, const std::vector<std::string>& argv);

class NvccCompile {
 public:
  /// `scratch`: a folder for its own temporary ones. `known`: device code in the store for this step, if it may be
  /// used.
  NvccCompile(const Store& store, std::filesystem::path scratch, std::optional<ActionRecord> known)
      : m_store(store), m_scratch(std::move(scratch)), m_known(std::move(known)) {}

  /// What the step as a whole would give: the command's -o and -MF are written.
  Result<CommandResult> run(const Command& command, CommandRunner& runner, std::stop_token stop);

  /// After a whole run: puts its device code into the store, with the headers and epoch of `read`. Files that are not
  /// as expected are not kept.
  Status keep(const std::string& key, const ActionRecord& read) const;
  /// Whose device code the object has, when only the host's half was run; else null.
  const ActionRecord* device_record() const { return m_known && m_why_whole.empty() ? &*m_known : nullptr; }

  /// Device code was there, and yet the step was run as a whole: why. Else "".
  const std::string& why_whole() const { return m_why_whole; }

 private:
  Result<CommandResult> run_host_half(const Command& command, CommandRunner& runner, const std::stop_token& stop);

  const Store& m_store;
  std::filesystem::path m_scratch;
  std::optional<ActionRecord> m_known;
  std::optional<TemporaryFolder> m_kept;
  std::string m_why_whole;
};

}  // namespace sagekit
