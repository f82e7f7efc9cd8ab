#include "build/device_halves.hpp"
#include "build/device_outputs.hpp"
#include "compile/machine_code.hpp"
#include "plan/argv.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <utility>

namespace sagekit {

TaskOutcome DeviceHalves::prove(std::size_t index, const std::stop_token& stop, StepReport& report) {
  const auto& action = m_actions[index];
  const auto* record = record_of(index);
  if (record == nullptr) return TaskOutcome::done;  // it is made the plain way anyway
  if (action.plain.empty()) {
    // nvcc has no way to the host's code for Windows: the same GPU code is compared where a module for Linux has it.
    const std::lock_guard lock(m_mutex);
    if (!std::exchange(m_unproved_said, true))
      report.retried =
          "its GPU code is not compared with nvcc's own: only modules for Windows use it; with --platform "
          "linux_x86_64 beside it, it is";
    return TaskOutcome::done;
  }
  Sha256 hash;
  hash.field("sagekit proof 1");
  for (const auto& output : record->outputs) hash.field(output.object.sha256);
  for (const auto& word : action.plain) hash.field(word);
  for (const auto& [name, identity] : m_context.symbols.identities(action.plain)) hash.field(name + " " + identity);
  hash.field(m_context.source.key);
  const auto key = hash.hex();
  if (!m_context.store.records(key).empty()) {
    m_proved[index] = 1;
    return TaskOutcome::done;
  }
  auto different = compare_plain(action, *record, stop, report);
  if (!different && different.error().code == "STO001") {
    const auto made = make_lost(index, stop, report.measured);
    record = record_of(index);
    if (made && record == nullptr) return TaskOutcome::done;
    different = made ? compare_plain(action, *record, stop, report) : std::unexpected(made.error());
  }
  if (!different && different.error().kind == ErrorKind::interrupted) return TaskOutcome::stopped;
  if (different && different->empty()) {
    m_proved[index] = 1;
    const auto kept = m_context.store.add_record(key, {});
    if (kept) return TaskOutcome::done;
    report.error = kept.error();
    return TaskOutcome::failed;
  }
  if (report.out_of_memory) return TaskOutcome::out_of_memory;
  report.outcome = StepOutcome::failed;
  report.failure.step = action.step.id;
  report.failure.exit_code = 1;
  report.failure.cause = "its GPU code is not what nvcc makes with torch's own headers: " +
                         (different ? *different : different.error().message);
  return TaskOutcome::failed;
}

Result<std::string> DeviceHalves::compare_plain(const DeviceAction& action, const ActionRecord& record,
                                                const std::stop_token& stop, StepReport& report) {
  TRY_ASSIGN(auto work, prepare(action, action.plain, stop));
  std::vector<CommandLine> commands{work.all.preprocess, work.all.split, work.device.preprocess, work.device.compile};
  commands.insert(commands.end(), work.device.assemble.begin(), work.device.assemble.end());
  for (const auto& argv : commands) {
    TRY_ASSIGN(const bool done, run(argv, work.command, work.all, stop, report));
    if (!done) return "the plain way failed: " + report.failure.cause;
  }
  for (const auto& image : work.device.images) {
    if (image.role.starts_with("ptx")) continue;  // text names its compiler's files
    const auto* ours = output_of(record, image.role);
    if (ours == nullptr) return "there is no " + image.role;
    const auto place = work.folder.path() / "ours.cubin";
    TRY(m_context.store.place(*ours, place));
    TRY_ASSIGN(const auto mine, machine_code(place));
    TRY_ASSIGN(const auto plain, machine_code(image.file));
    if (auto differs = first_difference(mine, plain); !differs.empty()) return differs;
  }
  return std::string();
}

bool DeviceHalves::in_sample(std::size_t index) const {
  const auto& words = m_actions[index].argv;
  if (without_ptxas_threads(words) != words) return true;
  const auto& source = m_actions[index].step.inputs;
  return std::none_of(m_actions.begin(), m_actions.begin() + static_cast<std::ptrdiff_t>(index),
                      [&](const DeviceAction& other) { return other.step.inputs == source; });
}

std::string DeviceHalves::proof(const Cell& cell) const {
  std::size_t proved = 0, all = 0;
  for (std::size_t i = 0; i < m_actions.size(); ++i) {
    if (std::ranges::count(m_actions[i].step.cells, cell.id) == 0) continue;
    ++all;
    proved += m_proved[i] != 0;
  }
  if (proved == 0) return {};
  return fmt::format("GPU code compared with nvcc's own by kernel: {} of {} (source, architecture), all equal", proved,
                     all);
}

}  // namespace sagekit
