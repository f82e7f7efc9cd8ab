#pragma once
// nvcc's two halves. GPU code is made by `make`, one architecture at a time, and kept for all whose GPU code is the
// same; a compile step then runs the host's half around it. Whatever of this does not come together costs the saving
// and never the build: the step is run by nvcc as a whole, and it is said why, once for a source.

#include "build/device_action.hpp"
#include "build/host_half.hpp"
#include "build/read_files.hpp"
#include "build/scheduler.hpp"
#include "build/step_context.hpp"
#include "build/step_key.hpp"
#include "compile/nvcc_commands.hpp"
#include "support/file.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace sagekit {

class DeviceHalves {
 public:
  DeviceHalves(const StepContext& context, const StepKeys& keys, FileHashes& hashes, std::vector<DeviceAction> actions);

  const std::vector<DeviceAction>& actions() const { return m_actions; }
  /// Has the step GPU code that was made for it?
  bool has(std::size_t compile_step) const { return m_of_step.contains(compile_step); }

  /// Takes an action's GPU code from the store or makes it. A source that does not compile so is no failure here.
  TaskOutcome make(std::size_t action, std::stop_token stop, StepReport& report);

  /// Of a compile step with several architectures: the one whose launches its host's code has. Nothing = the step has
  /// no other and does all itself, or it is for Windows.
  std::optional<std::size_t> last_of(const Step& step, std::size_t compile_step) const;
  /// The host's code of such a step while other architectures are still made. What does not come of it is left to
  /// `compile`, and is no failure.
  TaskOutcome begin_host(std::size_t compile_step, const Step& step, const std::stop_token& stop, StepReport& report);

  /// The first architecture of a source, and each that nvcc is given words for that nobody else gives it.
  bool in_sample(std::size_t action) const;
  /// After `make`: the same GPU code as nvcc makes it with torch's own headers, compared by kernel. A difference fails
  /// the step. What was proved once for these inputs and this torch is not proved again.
  TaskOutcome prove(std::size_t action, const std::stop_token& stop, StepReport& report);
  /// "GPU code proved: ...", of the actions that a cell uses; "" = none was.
  std::string proof(const Cell& cell) const;

  /// The step's command: the host's half around its GPU code, or the whole. `used`: the records of that GPU code;
  /// empty when it was run as a whole.
  Result<CommandResult> compile(std::size_t compile_step, const Step& step, const Command& whole,
                                const std::stop_token& stop, std::vector<const ActionRecord*>& used,
                                StepReport& report);

 private:
  /// An action on its way: its commands in its own folder.
  struct Work {
    const DeviceAction& action;
    Command command;
    NvccCommands all;
    DeviceCommands device;
    TemporaryFolder folder;
    std::string module_id;  ///< of kernels whose names have it in them; "" = none has
  };
  Result<NvccCommands> commands_of(const Command& nvcc, const std::stop_token& stop);
  Result<Work> prepare(const DeviceAction& action, const std::vector<std::string>& argv, const std::stop_token& stop);
  Result<std::string> compare_plain(const DeviceAction& action, const ActionRecord& record, const std::stop_token& stop,
                                    StepReport& report);
  Result<bool> run(const CommandLine& argv, const Command& like, const NvccCommands& all, const std::stop_token& stop,
                   StepReport& report);
  /// `why`: what the record that was looked at last lacks.
  std::optional<ActionRecord> find(const std::string& key, std::string& why) const;
  /// The work of `make` when the store has nothing: false = it does not do, `report` or m_why has the reason.
  Result<bool> make_anew(std::size_t index, const std::string& key, const std::stop_token& stop, StepReport& report);
  Result<bool> find_module_id(Work& work, const std::stop_token& stop, StepReport& report);
  Result<bool> has_module_id(const StoredObject& id, Work& work, const std::stop_token& stop, StepReport& report);
  Result<bool> run_cicc(Work& work, const std::stop_token& stop, StepReport& report);
  void give_up(std::size_t index, const std::string& why, StepReport& report);
  void say_in_one_run(const DeviceAction& action, const std::string& why, StepReport& report);
  std::string nobody_wants(std::size_t index) const;

  /// nullptr = its GPU code is not there.
  const ActionRecord* record_of(std::size_t action) const;
  void set_record(std::size_t action, ActionRecord record);
  /// Sees to it that the store has what was found in it: damage shows only when content is read. Nobody tried yet, or
  /// it is lost: then it is made. Errors: no GPU code came of it is none.
  Status make_lost(std::size_t action, const std::stop_token& stop, Measured& sum);
  Result<std::string> join_halves(std::size_t compile_step, const Step& step, const Command& whole,
                                  const std::stop_token& stop, std::vector<const ActionRecord*>& used,
                                  CommandResult& sum, std::uint64_t& disk_bytes);

  const StepContext& m_context;
  const StepKeys& m_keys;
  ReadFiles m_read;
  std::vector<DeviceAction> m_actions;
  std::map<std::size_t, std::vector<std::size_t>> m_of_step;  ///< compile step -> its actions
  std::deque<ActionRecord> m_found;                           ///< stay where they are: steps look at them as they run
  std::vector<const ActionRecord*> m_records;                 ///< of actions that are done
  std::vector<std::string> m_why;                             ///< why an action has none; "" = nobody tried
  std::vector<char> m_proved;                                 ///< by action
  std::map<std::size_t, HostHalf> m_begun;                    ///< by compile step
  std::mutex m_making_lost;                                   ///< several steps meet the same damage
  mutable std::mutex m_mutex;
  std::map<std::string, NvccCommands> m_commands;  ///< dry runs, by argv
  std::set<std::string> m_said;                    ///< sources whose reason was told
  bool m_unproved_said = false;                    ///< that --prove passes over what only Windows uses
};

}  // namespace sagekit
