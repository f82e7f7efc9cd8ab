// The part of DeviceHalves that puts the host's half around GPU code that is there.
#include "build/device_halves.hpp"
#include "compile/windows_host.hpp"
#include "store/store_files.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/try.hpp"

#include <algorithm>

namespace sagekit {

std::optional<std::size_t> DeviceHalves::last_of(const Step& step, std::size_t compile_step) const {
  const auto mine = m_of_step.find(compile_step);
  if (mine == m_of_step.end() || mine->second.size() < 2 || is_windows_host(step)) return std::nullopt;
  return mine->second.back();
}

TaskOutcome DeviceHalves::begin_host(std::size_t compile_step, const Step& step, const std::stop_token& stop,
                                     StepReport& report) {
  report.outcome = StepOutcome::finished;
  const auto& mine = m_of_step.at(compile_step);
  const auto index = mine.back();
  const auto* record = record_of(index);
  const auto is_lost = [&](std::size_t other) {
    const std::lock_guard lock(m_mutex);
    return !m_why[other].empty();
  };
  if (record == nullptr || std::ranges::any_of(mine, is_lost)) return TaskOutcome::done;  // nvcc compiles it as a whole
  CommandResult sum;
  const auto begin = [&]() -> Result<std::optional<HostHalf>> {
    TRY_ASSIGN(const auto whole, m_context.command(step, step.argv, ".host.log"));
    TRY_ASSIGN(const auto commands, commands_of(whole, stop));
    TRY_ASSIGN(auto host, HostHalf::prepare(m_context, step, whole, commands, stop));
    TRY_ASSIGN(const bool begun, host.begin({m_actions[index].arch, record}, sum));
    report.measured.disk_bytes = bytes_below(host.folder());
    return begun ? std::optional(std::move(host)) : std::nullopt;
  };
  auto host = begin();
  add(report.measured, sum);
  if (!host && host.error().kind == ErrorKind::interrupted) return TaskOutcome::stopped;
  if (host && *host) {
    if ((*host)->reused()) report.outcome = StepOutcome::reused;
    const std::lock_guard lock(m_mutex);
    m_begun.emplace(compile_step, std::move(**host));
  }
  return TaskOutcome::done;
}

Result<CommandResult> DeviceHalves::compile(std::size_t compile_step, const Step& step, const Command& whole,
                                            const std::stop_token& stop, std::vector<const ActionRecord*>& used,
                                            StepReport& report) {
  used.clear();
  CommandResult sum;
  const auto mine = m_of_step.find(compile_step);
  if (mine == m_of_step.end()) return m_context.runner.run(whole, stop);
  Measured made;
  const auto make_what_is_lost = [&]() -> Status {
    for (const auto index : mine->second) TRY(make_lost(index, stop, made));
    return {};
  };
  // A step that was in the store had no need of it, until its object turned out to be damaged.
  const auto untried = [&](std::size_t index) { return record_of(index) == nullptr; };
  if (std::ranges::any_of(mine->second, untried)) TRY(make_what_is_lost());
  std::string why;
  std::size_t without = 0;
  for (const auto index : mine->second)
    if (record_of(index) == nullptr) {
      const std::lock_guard lock(m_mutex);
      why = m_why[index];
      without = index;
    }
  if (why.empty()) {
    const auto try_it = [&] {
      return join_halves(compile_step, step, whole, stop, used, sum, report.measured.disk_bytes);
    };
    auto joined = try_it();
    if (!joined && joined.error().code == "STO001") {
      TRY(make_what_is_lost());
      joined = try_it();
    }
    const auto costs_the_saving = [](const Error& error) { return error.code == "BLD009" || error.code == "STO001"; };
    if (!joined && !costs_the_saving(joined.error())) return std::unexpected(joined.error());
    why = joined ? *joined : joined.error().message;
    add(sum, made);
    if (why.empty()) return sum;
    used.clear();
    if (ran_out_of_memory(sum, last_lines(whole.output_file)) || sum.timed_out) return sum;
    const std::lock_guard lock(m_mutex);
    say_in_one_run(m_actions[mine->second.front()], why, report);
  } else {
    log_line(m_context.log, LogLevel::info,
             [&] { return fmt::format("{} is lacking: {}", m_actions[without].step.id, why); });
  }
  // Host code for Windows has no whole way: clang makes no GPU code, nvcc no code for Windows.
  if (is_windows_host(step)) {
    if (sum.ok()) {
      TRY(write_file(whole.output_file, why + "\n"));
      sum.exit_code = 1;
    }
    report.retried.clear();
    return sum;
  }
  TRY_ASSIGN(auto result, m_context.runner.run(whole, stop));
  add(result, sum);
  return result;
}

/// Why it cannot be; "" = the object is there.
Result<std::string> DeviceHalves::join_halves(std::size_t compile_step, const Step& step, const Command& whole,
                                              const std::stop_token& stop, std::vector<const ActionRecord*>& used,
                                              CommandResult& sum, std::uint64_t& disk_bytes) {
  used.clear();
  std::vector<MadeDevice> devices;
  for (const auto index : m_of_step.at(compile_step)) {
    const auto* record = record_of(index);
    if (record == nullptr) return fail(ErrorKind::failed, "BLD009", "its GPU code was lost");
    used.push_back(record);
    devices.push_back({m_actions[index].arch, record});
  }
  auto asked = whole;
  if (is_windows_host(step)) {
    TRY_ASSIGN(asked, m_context.command(step, step.device_argv, ".log"));
    asked.argv.insert(asked.argv.end(), {"-o", (m_context.work / "tmp" / "none.o").string()});
  }
  std::optional<HostHalf> host;
  {
    const std::lock_guard lock(m_mutex);
    if (auto begun = m_begun.extract(compile_step)) host.emplace(std::move(begun.mapped()));
  }
  if (!host) {
    TRY_ASSIGN(const auto commands, commands_of(asked, stop));
    TRY_ASSIGN(auto fresh, HostHalf::prepare(m_context, step, whole, commands, stop));
    host.emplace(std::move(fresh));
  }
  host->log_to(whole.output_file);
  auto made = host->make(devices, sum);
  disk_bytes = bytes_below(host->folder());
  return made;
}

}  // namespace sagekit
