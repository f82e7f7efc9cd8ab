#include "build/executor.hpp"

#include "build/step_history.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

bool is_depfile(const std::string& output) { return output.ends_with(".d"); }

}  // namespace

Executor::Executor(StepContext context, std::vector<const Step*> steps)
    : m_context(std::move(context)),
      m_keys(
          m_context.symbols, m_context.source, m_context.epoch, m_hashes,
          [this](const std::string& symbolic) { return real_path(symbolic); },
          [this](const std::string& input) { return made_input(input); }),
      m_read(m_context, m_hashes),
      m_steps(std::move(steps)),
      m_devices(m_context, m_keys, m_hashes, device_actions(m_steps, m_context.platform)),
      m_depends(m_steps.size()),
      m_outputs(m_steps.size()),
      m_placed(m_steps.size(), false) {
  std::unordered_map<std::string, std::size_t> by_id;
  for (std::size_t i = 0; i < m_steps.size(); ++i) {
    by_id[m_steps[i]->id] = i;
    for (const auto& output : m_steps[i]->outputs) m_maker[output] = i;
  }
  for (std::size_t i = 0; i < m_steps.size(); ++i)
    for (const auto& id : m_steps[i]->depends)
      if (const auto found = by_id.find(id); found != by_id.end()) m_depends[i].push_back(found->second);
}

std::optional<std::string> Executor::made_input(const std::string& input) {
  const auto maker = m_maker.find(input);
  if (maker == m_maker.end()) return std::nullopt;
  const std::lock_guard lock(m_placing);  // what the store lost is being made again
  const auto& made = outputs(maker->second);
  const auto found = std::ranges::find(made, input, &RecordedOutput::path);
  return found == made.end() ? std::string() : found->object.sha256;
}

std::optional<Measured> Executor::history(const Step& step) const { return m_context.store.history(history_key(step)); }

/// Not the last run alone: what it may take is the most it took, forgotten slowly; how long is the middle.
void Executor::remember(const Step& step, const Measured& measured) const {
  constexpr double k_keep = 0.9;
  auto sum = measured;
  if (const auto before = history(step)) {
    const auto kept = static_cast<std::uint64_t>(static_cast<double>(before->peak_memory_bytes) * k_keep);
    sum.peak_memory_bytes = std::max(sum.peak_memory_bytes, kept);
    sum.disk_bytes = std::max(sum.disk_bytes, before->disk_bytes);
    sum.cpu_seconds = (sum.cpu_seconds + before->cpu_seconds) / 2;
    sum.wall_seconds = (sum.wall_seconds + before->wall_seconds) / 2;
  }
  m_context.store.remember(history_key(step), sum);
}

bool Executor::complete(const Step& step, const ActionRecord& record) const {
  const auto made = [&](const std::string& output) {
    return is_depfile(output) || std::ranges::any_of(record.outputs, [&](const RecordedOutput& o) {
             return o.path == output || o.path.starts_with(output + "/");
           });
  };
  return std::ranges::all_of(step.outputs, made) &&
         std::ranges::all_of(record.outputs, [&](const RecordedOutput& o) { return m_context.store.has(o.object); });
}

std::optional<ActionRecord> Executor::find_record(const Step& step, const KeyParts& parts, std::string& why) const {
  return m_context.store.find(key_of(parts), [&](const ActionRecord& record) {
    why = m_read.difference(record);
    if (why.empty() && !complete(step, record)) why = k_lost_outputs;
    return why.empty();
  });
}

/// As it was last made, by either argv.
std::optional<ActionRecord> Executor::find_either(const Step& step, const KeyParts& parts, std::string& why) const {
  if (auto record = find_record(step, parts, why)) return record;
  if (step.fallback_argv.empty()) return std::nullopt;
  const auto fallback = m_keys.action(step, true);
  return fallback ? find_record(step, *fallback, why) : std::nullopt;
}

bool Executor::reuse(std::size_t index, StepReport& report) {
  const Step& step = *m_steps[index];
  auto parts = m_keys.action(step, false);
  if (!parts) {
    report.error = parts.error();
    return false;
  }
  std::string why;
  if (auto record = find_either(step, *parts, why)) {
    log_line(m_context.log, LogLevel::info, [&] { return fmt::format("{}: reused from the store", step.id); });
    m_outputs[index] = std::move(record->outputs);
    report.outcome = StepOutcome::reused;
    return true;
  }
  log_line(m_context.log, LogLevel::info, [&] {
    return fmt::format("{}: not in the store: {}", step.id,
                       why_not_kept(m_context.store, step, *parts, std::move(why)));
  });
  return false;
}

TaskOutcome Executor::execute(std::size_t index, unsigned attempt, std::stop_token stop, StepReport& report) {
  if (attempt == 0 && reuse(index, report)) return TaskOutcome::done;
  if (report.error) return TaskOutcome::failed;
  const Step& step = *m_steps[index];
  if (m_context.require_hits && step.depends.empty()) {
    report.failure = {{}, step.id, 1, {}, "it is in no store, and --require-hits compiles nothing", {}, {}};
    return TaskOutcome::failed;
  }
  // Another build that makes the same is waited for.
  bool waited = false;
  const auto parts = m_keys.action(step, false);
  const auto claim = parts ? m_context.store.claim(key_of(*parts), stop, waited) : std::nullopt;
  if (waited && reuse(index, report)) return TaskOutcome::done;
  return run_step(index, stop, report);
}

TaskOutcome Executor::run_step(std::size_t index, std::stop_token stop, StepReport& report) {
  const Step& step = *m_steps[index];
  const auto give_up = [&report](Error error) {
    if (error.kind == ErrorKind::interrupted) return TaskOutcome::stopped;
    report.error = std::move(error);
    return TaskOutcome::failed;
  };
  for (const auto before : m_depends[index])
    if (auto placed = place_outputs(before, stop); !placed) return give_up(placed.error());
  std::optional<TemporaryFolder> own_copy;  // setuptools writes into its tree
  if (step.kind == StepKind::setup_py) {
    auto folder = TemporaryFolder::create(m_context.work / "tmp", "setup-py");
    if (!folder) return give_up(folder.error());
    own_copy.emplace(std::move(*folder));
    if (auto copied = copy_tree(m_context.source.root, own_copy->path()); !copied) return give_up(copied.error());
  }

  bool fallback = false;
  std::vector<const ActionRecord*> devices;
  for (const auto* argv : {&step.argv, &step.fallback_argv}) {
    fallback = argv == &step.fallback_argv;
    auto command = m_context.command(step, *argv, fallback ? ".fallback.log" : ".log");
    if (!command) return give_up(command.error());
    if (own_copy)
      command->working_directory = own_copy->path() / m_context.source.folder.lexically_relative(m_context.source.root);
    // Old outputs may be hard links into the store: they are never written to.
    for (const auto& output : step.outputs) {
      remove_quietly(real_path(output));
      if (auto made = make_directories(real_path(output).parent_path()); !made) return give_up(made.error());
    }
    devices.clear();
    const auto result = fallback ? m_context.runner.run(*command, stop)
                                 : m_devices.compile(index, step, *command, stop, devices, report);
    if (!result) return give_up(result.error());
    add(report.measured, *result);
    if (result->ok()) break;
    report.failure = failure_of(step, *command, *result);
    if (ran_out_of_memory(*result, report.failure.cause)) return TaskOutcome::out_of_memory;
    if (result->timed_out) return TaskOutcome::failed;
    if (fallback || step.fallback_argv.empty()) return TaskOutcome::failed;
    report.retried = "the lean header does not do for it: " + report.failure.cause;
  }
  if (auto kept = keep(index, fallback, devices, report); !kept) return give_up(kept.error());
  if (report.outcome != StepOutcome::finished) return TaskOutcome::failed;
  return TaskOutcome::done;
}

Result<std::vector<RecordedOutput>> Executor::put_outputs(const Step& step) const {
  std::vector<RecordedOutput> made;
  for (const auto& output : step.outputs) {
    if (is_depfile(output)) continue;
    const auto path = real_path(output);
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      if (!fs::is_regular_file(path, error)) continue;
      TRY_ASSIGN(auto object, m_context.store.put(path));
      made.push_back({output, std::move(object)});
      continue;
    }
    for (fs::directory_iterator walk(path, error), end; !error && walk != end; walk.increment(error)) {
      std::error_code ignored;
      if (!walk->is_regular_file(ignored)) continue;
      TRY_ASSIGN(auto object, m_context.store.put(walk->path()));
      made.push_back({output + "/" + walk->path().filename().string(), std::move(object)});
    }
  }
  std::ranges::sort(made, {}, &RecordedOutput::path);
  return made;
}

/// What the compiler read, into the record. False when it did not say, or when a file it read is not there to be
/// checked next time. The host's half saw its own pass alone: what the passes for GPUs read is in their records.
bool Executor::add_read(const Step& step, const std::vector<const ActionRecord*>& devices, ActionRecord& record) const {
  const bool compiles = step.kind == StepKind::compile || step.kind == StepKind::bind;
  const auto listed = std::ranges::find_if(step.outputs, is_depfile);
  if (listed == step.outputs.end()) return !compiles;
  ReadFiles::List list;
  for (const auto* device : devices) m_read.add_record(*device, list);
  if (!m_read.add_listed(real_path(*listed), list)) return false;
  m_read.put_into(record, list);
  return true;
}

Status Executor::keep(std::size_t index, bool fallback, const std::vector<const ActionRecord*>& devices,
                      StepReport& report) {
  const Step& step = *m_steps[index];
  TRY_ASSIGN(const auto parts, m_keys.action(step, fallback));
  ActionRecord record{{}, {}, report.measured, fallback, {}};
  TRY_ASSIGN(record.outputs, put_outputs(step));
  if (!complete(step, record)) {
    report.outcome = StepOutcome::failed;
    report.failure.step = step.id;
    report.failure.cause = "it ended well but did not write all of " + join(step.outputs, ", ");
    report.failure.log = m_context.work / "logs" / (step.id + (fallback ? ".fallback.log" : ".log"));
    return {};
  }
  TRY(m_context.tools.unchanged());
  if (add_read(step, devices, record)) TRY(m_context.store.add_record(key_of(parts), record));
  remember(step, report.measured);
  m_context.store.remember_parts(history_key(step), parts);
  {
    const std::lock_guard lock(m_placing);
    m_placed[index] = true;
  }
  m_outputs[index] = std::move(record.outputs);
  report.outcome = StepOutcome::finished;
  return {};
}

Status Executor::place_outputs(std::size_t index, std::stop_token stop) {
  const std::lock_guard lock(m_placing);
  if (m_placed[index]) return {};
  for (const auto& output : outputs(index)) {
    const auto placed = m_context.store.place(output.object, real_path(output.path));
    if (placed) continue;
    if (placed.error().code != "STO001") return placed;
    // The store lost it: it is made again.
    StepReport report;
    const auto outcome = run_step(index, stop, report);
    if (outcome == TaskOutcome::done) return {};
    if (outcome == TaskOutcome::stopped) return fail(ErrorKind::interrupted, "BLD006", "stopped");
    if (report.error) return std::unexpected(std::move(*report.error));
    return fail(ErrorKind::failed, "STO001",
                fmt::format("step {} could not be repeated: {}", m_steps[index]->id, report.failure.cause),
                "delete the store's actions folder");
  }
  m_placed[index] = true;
  return {};
}

}  // namespace sagekit
