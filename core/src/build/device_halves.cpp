#include "build/device_halves.hpp"

#include "build/device_outputs.hpp"
#include "build/step_history.hpp"
#include "build/text_key.hpp"
#include "compile/windows_host.hpp"
#include "store/store_files.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>

namespace sagekit {

namespace {

/// A module id that no compiler gives: only GPU code that shows it needs the real one, of the host's pass.
constexpr std::string_view k_no_module_id = "_sagekit0_9_unnamed_cu_00000000";

/// From here on the host's pass, some 3 s, is asked for it before: cicc of what needs it would run twice (sage3's
/// api.cu: 150 s more).
constexpr double k_asks_first_seconds = 100;

std::unexpected<Error> not_done(const std::string& why) { return fail(ErrorKind::failed, "BLD009", why); }

/// The headers of device code that every build of it can check: those that belong to one CPU's compiler or Python are
/// left to the identities in its key.
ActionRecord of_every_cpu(ActionRecord record, const std::string& platform) {
  std::erase_if(record.headers, [&](const auto& header) {
    const auto role = header.first.substr(0, header.first.find('}'));
    return role.starts_with('{') && (role.ends_with("-" + platform) || role.find("-" + platform + "-") != role.npos);
  });
  return record;
}

}  // namespace

DeviceHalves::DeviceHalves(const StepContext& context, const StepKeys& keys, FileHashes& hashes,
                           std::vector<DeviceAction> actions)
    : m_context(context),
      m_keys(keys),
      m_read(context, hashes),
      m_actions(std::move(actions)),
      m_records(m_actions.size(), nullptr),
      m_why(m_actions.size()),
      m_proved(m_actions.size(), 0) {
  for (std::size_t i = 0; i < m_actions.size(); ++i)
    for (const auto user : m_actions[i].users) m_of_step[user].push_back(i);
}

const ActionRecord* DeviceHalves::record_of(std::size_t action) const {
  const std::lock_guard lock(m_mutex);
  return m_records[action];
}

void DeviceHalves::set_record(std::size_t action, ActionRecord record) {
  const std::lock_guard lock(m_mutex);
  m_records[action] = &m_found.emplace_back(std::move(record));
}

/// By what nvcc prints for it; asked once for an argv.
Result<NvccCommands> DeviceHalves::commands_of(const Command& nvcc, const std::stop_token& stop) {
  const auto key = join(nvcc.argv, "\n");
  {
    const std::lock_guard lock(m_mutex);
    if (const auto known = m_commands.find(key); known != m_commands.end()) return known->second;
  }
  const auto folder = m_context.work / "tmp" / "dry-run";
  TRY(make_directories(folder));
  auto dry = nvcc;
  dry.output_file.clear();
  dry.argv.insert(dry.argv.end(), {"--dryrun", "--keep", "--keep-dir", folder.string()});
  TRY_ASSIGN(auto said, m_context.runner.run(dry, stop));
  // On a machine at its limit one ended without a word. The way without it makes the same kernels, but not the same
  // file.
  if (!said.ok() && trim(said.output).empty()) {
    TRY_ASSIGN(said, m_context.runner.run(dry, stop));
  }
  if (!said.ok())
    return not_done(
        fmt::format("nvcc's dry run failed (exit {}, signal {}): {}", said.exit_code, said.signal, trim(said.output)));
  TRY_ASSIGN(auto commands, read_dryrun(said.output));
  if (commands.folder != folder) return not_done("nvcc's dry run is not understood: it keeps its files elsewhere");
  const std::lock_guard lock(m_mutex);
  return m_commands.emplace(key, std::move(commands)).first->second;
}

/// False when the command failed. Too little memory and too much time end the step itself: both are in `report`.
Result<bool> DeviceHalves::run(const CommandLine& argv, const Command& like, const NvccCommands& all,
                               const std::stop_token& stop, StepReport& report) {
  auto command = like;
  command.argv = argv;
  for (const auto& [name, value] : all.environment) command.environment[name] = value;
  TRY_ASSIGN(const auto result, m_context.runner.run(command, stop));
  add(report.measured, result);
  if (result.ok()) return true;
  Step step;
  step.id = report.failure.step;
  report.failure = failure_of(step, command, result);
  report.failure.argv = like.argv;  // what the program read is gone with its folder: nvcc makes the same
  report.out_of_memory = ran_out_of_memory(result, report.failure.cause);
  if (result.timed_out) report.outcome = StepOutcome::failed;
  return false;
}

std::optional<ActionRecord> DeviceHalves::find(const std::string& key, std::string& why) const {
  const auto has = [&](const RecordedOutput& output) { return m_context.store.has(output.object); };
  return m_context.store.find(key, [&](const ActionRecord& record) {
    why = m_read.difference(record);
    if (why.empty() && !std::ranges::all_of(record.outputs, has)) why = k_lost_outputs;
    return why.empty();
  });
}

void DeviceHalves::give_up(std::size_t index, const std::string& why, StepReport& report) {
  const std::lock_guard lock(m_mutex);
  m_why[index] = why;
  // Only modules for Windows use it: nothing is compiled another way, the step of the host's code says why and fails.
  if (m_actions[index].plain.empty()) return;
  say_in_one_run(m_actions[index], why, report);
}

/// Once for a source; m_mutex is locked.
void DeviceHalves::say_in_one_run(const DeviceAction& action, const std::string& why, StepReport& report) {
  if (m_said.insert(action.step.inputs.front()).second)
    report.retried = "nvcc compiles its GPU and host code in one run (slower, the same code): " + why;
}

/// A step is compiled as a whole when one of its architectures has no GPU code: why all steps that would use this are;
/// "" = one of them still may.
std::string DeviceHalves::nobody_wants(std::size_t index) const {
  std::string why;
  const std::lock_guard lock(m_mutex);
  for (const auto user : m_actions[index].users) {
    const auto& all = m_of_step.at(user);
    const auto lost = std::ranges::find_if(all, [&](std::size_t other) { return !m_why[other].empty(); });
    if (lost == all.end()) return {};
    why = m_why[*lost];
  }
  return why;
}

TaskOutcome DeviceHalves::make(std::size_t index, std::stop_token stop, StepReport& report) {
  const auto& action = m_actions[index];
  report.failure.step = action.step.id;
  const auto parts = m_keys.device(action, m_context.platform);
  if (!parts) {
    report.error = parts.error();
    return TaskOutcome::failed;
  }
  const auto key = key_of(*parts);
  std::string why, ignored;
  auto known = find(key, why);
  if (!known && action.platform != m_context.platform) {  // what this machine's own CPU made serves, too
    const auto own = m_keys.device(action, action.platform);
    if (own) known = find(key_of(*own), ignored);
  }
  // Another build that makes the same is waited for.
  bool waited = false;
  const auto claim = known ? std::nullopt : m_context.store.claim(key, stop, waited);
  if (waited) known = find(key, why);
  if (known) {
    log_line(m_context.log, LogLevel::info, [&] { return action.step.id + ": reused from the store"; });
    set_record(index, std::move(*known));
    report.outcome = StepOutcome::reused;
    return TaskOutcome::done;
  }
  log_line(m_context.log, LogLevel::info, [&] {
    return fmt::format("{}: not in the store: {}", action.step.id,
                       why_not_kept(m_context.store, action.step, *parts, std::move(why)));
  });
  report.outcome = StepOutcome::finished;
  if (const auto lost = nobody_wants(index); !lost.empty()) {
    give_up(index, lost, report);
    return TaskOutcome::done;
  }
  const auto made = make_anew(index, key, stop, report);
  if (!made && made.error().kind == ErrorKind::interrupted) return TaskOutcome::stopped;
  if (!made && made.error().code != "BLD009") {
    report.error = made.error();
    return TaskOutcome::failed;
  }
  if (!made) {
    give_up(index, made.error().message, report);
    return TaskOutcome::done;
  }
  if (*made) {
    m_context.store.remember_parts(history_key(action.step), *parts);
    return TaskOutcome::done;
  }
  if (report.outcome == StepOutcome::failed) return TaskOutcome::failed;
  if (report.out_of_memory) return TaskOutcome::out_of_memory;
  give_up(index, "compiling the GPU code alone failed: " + report.failure.cause, report);
  return TaskOutcome::done;
}

Result<DeviceHalves::Work> DeviceHalves::prepare(const DeviceAction& action, const std::vector<std::string>& argv,
                                                 const std::stop_token& stop) {
  TRY_ASSIGN(auto command, m_context.command(action.step, argv, ".log"));
  // Where the object would go is none of its business, but nvcc wants a name.
  command.argv = without_outputs(command.argv);
  command.argv.insert(command.argv.end(), {"-o", (m_context.work / "tmp" / "none.o").string()});
  TRY_ASSIGN(const auto commands, commands_of(command, stop));
  TRY_ASSIGN(auto folder, TemporaryFolder::create(m_context.work / "tmp", "device"));
  auto moved = in_folder(commands, folder.path());
  const auto device = std::ranges::find(moved.devices, action.arch, &DeviceCommands::arch);
  if (device == moved.devices.end()) return not_done("nvcc's dry run is not understood: it has no " + action.arch);
  auto one = *device;
  return Work{action, std::move(command), std::move(moved), std::move(one), std::move(folder), {}};
}

Result<bool> DeviceHalves::run_cicc(Work& work, const std::stop_token& stop, StepReport& report) {
  TRY(write_file(work.all.module_id, work.module_id.empty() ? k_no_module_id : std::string_view(work.module_id)));
  return run(work.device.compile, work.command, work.all, stop, report);
}

/// By cudafe++, over the host's pass.
Result<bool> DeviceHalves::find_module_id(Work& work, const std::stop_token& stop, StepReport& report) {
  for (const auto* argv : {&work.all.preprocess, &work.all.split}) {
    TRY_ASSIGN(const bool done, run(*argv, work.command, work.all, stop, report));
    if (!done) return false;
  }
  TRY_ASSIGN(work.module_id, read_file(work.all.module_id));
  return true;
}

Result<bool> DeviceHalves::has_module_id(const StoredObject& id, Work& work, const std::stop_token& stop,
                                         StepReport& report) {
  TRY_ASSIGN(const bool told, find_module_id(work, stop, report));
  const auto file = work.folder.path() / "kept.txt";
  TRY(m_context.store.place(id, file));
  TRY_ASSIGN(const auto kept, read_file(file));
  return told && kept == work.module_id;
}

Result<bool> DeviceHalves::make_anew(std::size_t index, const std::string& key, const std::stop_token& stop,
                                     StepReport& report) {
  const auto& action = m_actions[index];
  TRY_ASSIGN(auto work, prepare(action, action.argv, stop));
  const auto depfile = (work.folder.path() / "read.d").string();
  auto preprocess = work.device.preprocess;
  preprocess.insert(preprocess.end(), {"-MD", "-MF", depfile, "-MT", "text"});
  TRY_ASSIGN(const bool read, run(preprocess, work.command, work.all, stop, report));
  if (!read) return false;
  ReadFiles::List list;
  if (!m_read.add_listed(depfile, list)) return not_done("the preprocessor does not say what it read");

  auto places = places_of(m_context, work.all);
  add_mapped_places(preprocess, places);
  const auto key_with = [&](const Places& without) {
    return device_text_key(m_context.symbols, action.argv.front(), work.device, without);
  };
  // Line information names folders, as std::source_location does: such GPU code is found where they are the same.
  const auto by_text = key_with(places), by_own_text = key_with({places.front()});
  ActionRecord record;
  std::string ignored;
  auto known = find(by_text, ignored);
  if (!known) known = find(by_own_text, ignored);
  if (known && output_of(*known, k_module_id) != nullptr) {
    // Its names have the host's module id in them, which the text does not show.
    const auto same = has_module_id(*output_of(*known, k_module_id), work, stop, report);
    if (!same && same.error().code != "STO001") return std::unexpected(same.error());
    if (!same || !*same) known.reset();
  }
  if (known) {
    record = std::move(*known);
  } else {
    if (work.module_id.empty() && action.step.cost.cpu_seconds >= k_asks_first_seconds) {
      TRY_ASSIGN(const bool told, find_module_id(work, stop, report));
      if (!told) return false;
    }
    const auto given = work.module_id.empty() ? std::string(k_no_module_id) : std::string(trim(work.module_id));
    TRY_ASSIGN(const bool compiled, run_cicc(work, stop, report));
    if (!compiled) return false;
    TRY_ASSIGN(const auto ptx, read_file(work.device.ptx));
    if (ptx.find(given) == std::string::npos) {
      work.module_id.clear();
    } else if (work.module_id.empty()) {
      TRY_ASSIGN(const bool told, find_module_id(work, stop, report));
      if (!told) return false;
      TRY_ASSIGN(const bool again, run_cicc(work, stop, report));
      if (!again) return false;
    }
    TRY_ASSIGN(const auto texts, read_device_texts(work.device, !action.for_windows));
    for (const auto& argv : work.device.assemble) {
      TRY_ASSIGN(const bool assembled, run(argv, work.command, work.all, stop, report));
      if (!assembled) return false;
    }
    TRY_ASSIGN(record.outputs, keep_outputs(m_context.store, work.device, texts, work.module_id));
    TRY(m_context.tools.unchanged());
    report.measured.disk_bytes = bytes_below(work.folder.path());
    record.measured = report.measured;
    const bool own = names_a_place(texts.ptx, places) || names_a_place(texts.stub, places);
    TRY(m_context.store.add_record(own ? by_own_text : by_text, record));
  }
  m_read.put_into(record, list);
  record = of_every_cpu(std::move(record), action.platform);
  TRY(m_context.store.add_record(key, record));
  set_record(index, std::move(record));
  return true;
}

Status DeviceHalves::make_lost(std::size_t index, const std::stop_token& stop, Measured& sum) {
  const std::lock_guard one_at_a_time(m_making_lost);
  const auto is_whole = [&](const RecordedOutput& output) {
    return m_context.store.content(output.object).has_value();
  };
  {
    const auto* record = record_of(index);
    if (record != nullptr && std::ranges::all_of(record->outputs, is_whole)) return {};
    const std::lock_guard lock(m_mutex);
    if (record == nullptr && !m_why[index].empty()) return {};
    m_records[index] = nullptr;
  }
  StepReport report;
  const auto outcome = make(index, stop, report);
  sum.cpu_seconds += report.measured.cpu_seconds;
  sum.wall_seconds += report.measured.wall_seconds;
  sum.peak_memory_bytes = std::max(sum.peak_memory_bytes, report.measured.peak_memory_bytes);
  if (outcome == TaskOutcome::stopped) return fail(ErrorKind::interrupted, "BLD006", "stopped");
  if (report.error) return std::unexpected(std::move(*report.error));
  return {};
}

}  // namespace sagekit
