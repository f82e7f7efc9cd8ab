#pragma once
// What all steps of a build share, and what is told of each.

#include "build/symbols.hpp"
#include "build/tool_stamps.hpp"
#include "source/prepared_source.hpp"
#include "store/action_record.hpp"

#include <sagekit/build.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>

namespace sagekit {

struct StepContext {
  const Store& store;
  const SymbolTable& symbols;
  const PreparedSource& source;
  std::filesystem::path work;
  std::map<std::string, std::string> environment;  ///< complete, of every step
  std::string epoch;                               ///< SOURCE_DATE_EPOCH
  CommandRunner& runner;
  std::string platform;  ///< this machine's own
  LogSink log;
  ToolStamps tools;
  std::optional<double> timeout_seconds;                      ///< of each command
  std::optional<int> nice;                                    ///< of each command
  bool require_hits = false;                                  ///< BuildOptions::require_hits
  const std::unordered_set<std::string>* yielding = nullptr;  ///< ids of steps that do not decide when all ends

  std::filesystem::path real_path(const std::string& symbolic) const;
  /// The command of a step's argv, its output into {work}/logs. Errors: BLD002.
  Result<Command> command(const Step& step, const std::vector<std::string>& argv, const char* log_suffix) const;
};

struct StepReport {
  StepOutcome outcome = StepOutcome::failed;  ///< reused, finished, failed
  Measured measured;                          ///< of all its runs now
  StepFailure failure;                        ///< of a failed step; `cell` is empty
  std::string retried;                        ///< why the fallback was tried; "" = it was not
  bool out_of_memory = false;                 ///< the failure is that
  std::optional<Error> error;                 ///< sagekit could not work: not the step's fault
};

void add(Measured& sum, const CommandResult& result);
void add(CommandResult& sum, const CommandResult& result);
void add(CommandResult& sum, const Measured& measured);

/// The last lines of a log.
std::string last_lines(const std::filesystem::path& log);
/// The kernel's out-of-memory killer took it, or the compiler proper below its driver.
bool ran_out_of_memory(const CommandResult& result, const std::string& last_lines);
/// What is told of a command that failed.
StepFailure failure_of(const Step& step, const Command& command, const CommandResult& result);
/// Puts what the links in `links` lead to in their place: they are gone when somebody reads it.
void name_real_places(StepFailure& failure, const std::filesystem::path& links);

}  // namespace sagekit
