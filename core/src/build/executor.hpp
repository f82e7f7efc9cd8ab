#pragma once
// One step at a time: found in the store, or run and put there.

#include "build/prepared_source.hpp"
#include "build/scheduler.hpp"
#include "build/store.hpp"
#include "build/symbols.hpp"

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
};

struct StepReport {
  StepOutcome outcome = StepOutcome::failed;  ///< reused, finished, failed
  Measured measured;                          ///< of all its runs now
  StepFailure failure;                        ///< of a failed step; `cell` is empty
  std::string retried;                        ///< why the fallback was tried; "" = it was not
  std::optional<Error> error;                 ///< sagekit could not work: not the step's fault
};

/// sha256 of files that nobody changes during a build, each read once. Thread-safe.
class FileHashes {
 public:
  std::optional<std::string> of(const std::filesystem::path& file);

 private:
  std::mutex m_mutex;
  std::unordered_map<std::string, std::optional<std::string>> m_known;
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
  std::string history_key(const Step& step) const;
  std::optional<ActionRecord> find_record(const Step& step, const std::string& key) const;
  bool complete(const Step& step, const ActionRecord& record) const;
  TaskOutcome run_step(std::size_t index, std::stop_token stop, StepReport& report);
  Result<Command> command_for(const Step& step, const std::vector<std::string>& argv, const char* log_suffix) const;
  Status keep(std::size_t index, const std::string& key, bool fallback, StepReport& report);
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
