#pragma once
// One step at a time: found in the store, or run and put there.

#include "build/file_hashes.hpp"
#include "build/nvcc_compile.hpp"
#include "build/prepared_source.hpp"
#include "build/scheduler.hpp"
#include "build/store.hpp"
#include "build/symbols.hpp"
#include "support/sha256.hpp"

#include <sagekit/build.hpp>

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace sagekit {

/// What all steps of a build share.
struct StepContext {
  const Store& store;
  const SymbolTable& symbols;
  const PreparedSource& source;
  std::filesystem::path work;
  std::map<std::string, std::string> environment;  ///< complete, of every step
  std::string epoch;                               ///< SOURCE_DATE_EPOCH
  CommandRunner& runner;
  std::string platform;  ///< this machine's own
};

struct StepReport {
  StepOutcome outcome = StepOutcome::failed;  ///< reused, finished, failed
  Measured measured;                          ///< of all its runs now
  StepFailure failure;                        ///< of a failed step; `cell` is empty
  std::string retried;                        ///< why the fallback was tried; "" = it was not
  std::optional<Error> error;                 ///< sagekit could not work: not the step's fault
};

/// What a run of nvcc leaves to be kept, besides the step's own outputs.
struct DeviceWork {
  std::optional<NvccCompile> nvcc;
  std::string key;
};

/// Keys are two-level, as in ccache's direct mode. The first covers what is known before: the symbolic argv, identities
/// of the tools in it, the content of the step's inputs and the names of all headers of the source. Each record below
/// it lists the headers that the compiler then read, with their content.
class Executor {
 public:
  Executor(StepContext context, std::vector<const Step*> steps);

  /// For run_tasks: `step` is an index into the steps, all of whose dependencies are done.
  TaskOutcome execute(std::size_t step, unsigned attempt, std::stop_token stop, StepReport& report);

  /// What it made; only after it is done. Files below an output folder are listed one by one.
  const std::vector<RecordedOutput>& outputs(std::size_t step) const { return *m_outputs[step]; }
  /// Sees to it that the outputs lie in the work folder; makes them again if the store lost them.
  Status place_outputs(std::size_t step, std::stop_token stop);

  std::optional<Measured> history(std::size_t step) const;

 private:
  Result<std::string> action_key(const Step& step);
  Result<std::string> device_key(const Step& step, const DeviceStep& device);
  Status add_inputs(Sha256& hash, const Step& step);
  std::string history_key(const Step& step) const;
  std::optional<ActionRecord> find_record(const Step& step, const std::string& key) const;
  std::optional<ActionRecord> find_device(const std::string& key) const;
  bool headers_hold(const ActionRecord& record) const;
  bool complete(const Step& step, const ActionRecord& record) const;
  TaskOutcome run_step(std::size_t index, std::stop_token stop, StepReport& report);
  Result<Command> command_for(const Step& step, const std::vector<std::string>& argv, const char* log_suffix) const;
  Result<CommandResult> run_command(const Step& step, const std::vector<std::string>& argv, const Command& command,
                                    std::stop_token stop, DeviceWork& device);
  Status keep(std::size_t index, const std::string& key, bool fallback, const DeviceWork& device, StepReport& report);
  Result<std::vector<RecordedOutput>> put_outputs(const Step& step) const;
  std::optional<std::vector<std::pair<std::string, std::string>>> headers_read(const Step& step) const;
  std::filesystem::path real_path(const std::string& symbolic) const;

  StepContext m_context;
  std::vector<const Step*> m_steps;
  std::vector<std::vector<std::size_t>> m_depends;
  std::unordered_map<std::string, std::size_t> m_maker;  ///< output -> step
  std::vector<std::optional<std::vector<RecordedOutput>>> m_outputs;
  std::vector<bool> m_placed;
  std::recursive_mutex m_placing;
  mutable FileHashes m_hashes;
};

}  // namespace sagekit
