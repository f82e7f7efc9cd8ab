#pragma once
// One step at a time: found in the store, or run and put there.

#include "build/device_halves.hpp"
#include "build/file_hashes.hpp"
#include "build/read_files.hpp"
#include "build/scheduler.hpp"
#include "build/step_context.hpp"
#include "build/step_key.hpp"

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

/// Keys are two-level, as in ccache's direct mode. The first covers what is known before: the symbolic argv, identities
/// of the tools in it, the content of the step's inputs and the names of all headers of the source. Each record below
/// it lists the headers that the compiler then read, in every pass, by what they are and with their content; and the
/// date, where one of them names it.
class Executor {
 public:
  Executor(StepContext context, std::vector<const Step*> steps);
  Executor(const Executor&) = delete;  // its parts refer to each other
  Executor& operator=(const Executor&) = delete;

  /// Looks into the store only: true when all is there. All that it depends on must have been found, too.
  bool reuse(std::size_t step, StepReport& report);
  /// For run_tasks: `step` is an index into the steps, all of whose dependencies are done, and whose GPU code was
  /// tried.
  TaskOutcome execute(std::size_t step, unsigned attempt, std::stop_token stop, StepReport& report);

  /// What it made; only after it is done. Files below an output folder are listed one by one.
  const std::vector<RecordedOutput>& outputs(std::size_t step) const { return *m_outputs[step]; }
  /// Sees to it that the outputs lie in the work folder; makes them again if the store lost them.
  Status place_outputs(std::size_t step, std::stop_token stop);

  /// GPU code of compile steps, architecture by architecture.
  DeviceHalves& devices() { return m_devices; }

  std::optional<Measured> history(const Step& step) const;
  void remember(const Step& step, const Measured& measured) const;

 private:
  std::optional<std::string> made_input(const std::string& input);
  std::optional<ActionRecord> find_record(const Step& step, const KeyParts& parts, std::string& why) const;
  std::optional<ActionRecord> find_either(const Step& step, const KeyParts& parts, std::string& why) const;
  bool complete(const Step& step, const ActionRecord& record) const;
  TaskOutcome run_step(std::size_t index, std::stop_token stop, StepReport& report);
  Status keep(std::size_t index, bool fallback, const std::vector<const ActionRecord*>& devices, StepReport& report);
  Result<std::vector<RecordedOutput>> put_outputs(const Step& step) const;
  bool add_read(const Step& step, const std::vector<const ActionRecord*>& devices, ActionRecord& record) const;
  std::filesystem::path real_path(const std::string& symbolic) const { return m_context.real_path(symbolic); }

  StepContext m_context;
  mutable FileHashes m_hashes;
  StepKeys m_keys;
  ReadFiles m_read;
  std::vector<const Step*> m_steps;
  DeviceHalves m_devices;
  std::vector<std::vector<std::size_t>> m_depends;
  std::unordered_map<std::string, std::size_t> m_maker;  ///< output -> step
  std::vector<std::optional<std::vector<RecordedOutput>>> m_outputs;
  std::vector<bool> m_placed;
  std::recursive_mutex m_placing;
};

}  // namespace sagekit
