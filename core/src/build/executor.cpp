#include "build/executor.hpp"

#include "build/depfile.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_cause_lines = 20;
constexpr std::size_t k_cause_bytes = 16 * 1024;

bool is_depfile(const std::string& output) { return output.ends_with(".d"); }

std::string tail(const fs::path& log) {
  const auto text = read_file(log);
  if (!text) return {};
  const auto lines =
      split(trim(std::string_view(*text).substr(text->size() - std::min(text->size(), k_cause_bytes))), '\n');
  const auto first = lines.size() - std::min(lines.size(), k_cause_lines);
  return join({lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end()}, "\n");
}

/// The kernel's out-of-memory killer takes the compiler proper; its driver then says so and ends by itself.
bool ran_out_of_memory(const CommandResult& result, const std::string& last_lines) {
  constexpr int k_kill = 9, k_killed = 128 + k_kill;
  if (result.ok() || result.timed_out) return false;
  return result.signal == k_kill || result.exit_code == k_killed ||
         last_lines.find("Killed signal") != std::string::npos ||
         last_lines.find("died due to signal 9") != std::string::npos;
}

void add(Measured& sum, const CommandResult& result) {
  sum.cpu_seconds += result.cpu_seconds;
  sum.wall_seconds += result.wall_seconds;
  sum.peak_memory_bytes = std::max(sum.peak_memory_bytes, result.peak_memory_bytes);
}

/// The headers of device code that every build of it can check: those that belong to one CPU's compiler or Python are
/// left to the identities in its key.
ActionRecord of_every_cpu(const ActionRecord& record, const std::string& platform) {
  ActionRecord shared{record.headers, {}, {}, false, record.epoch};
  std::erase_if(shared.headers, [&](const auto& header) {
    const auto role = header.first.substr(0, header.first.find('}'));
    return role.starts_with('{') && (role.ends_with("-" + platform) || role.find("-" + platform + "-") != role.npos);
  });
  return shared;
}

bool is_below(const fs::path& file, const fs::path& folder) {
  const auto text = file.string(), prefix = folder.string() + "/";
  return text.starts_with(prefix);
}

}  // namespace

Executor::Executor(StepContext context, std::vector<const Step*> steps)
    : m_context(std::move(context)),
      m_keys(
          m_context.symbols, m_context.source, m_context.epoch, m_hashes,
          [this](const std::string& symbolic) { return real_path(symbolic); },
          [this](const std::string& input) { return made_input(input); }),
      m_steps(std::move(steps)),
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

fs::path Executor::real_path(const std::string& symbolic) const {
  static constexpr std::string_view k_source = "{source}", k_work = "{work}";
  const std::string_view text = symbolic;
  if (text.starts_with(k_source)) return m_context.source.folder.string() + std::string(text.substr(k_source.size()));
  if (text.starts_with(k_work)) return m_context.work.string() + std::string(text.substr(k_work.size()));
  return m_context.symbols.path_by_role(symbolic);
}

std::optional<std::string> Executor::made_input(const std::string& input) {
  const auto maker = m_maker.find(input);
  if (maker == m_maker.end()) return std::nullopt;
  const std::lock_guard lock(m_placing);  // what the store lost is being made again
  const auto& made = outputs(maker->second);
  const auto found = std::ranges::find(made, input, &RecordedOutput::path);
  return found == made.end() ? std::string() : found->object.sha256;
}

std::string Executor::history_key(const Step& step) const {
  Sha256 hash;
  for (const auto& word : step.argv) hash.field(word);
  return hash.hex();
}

std::optional<Measured> Executor::history(std::size_t step) const {
  return m_context.store.history(history_key(*m_steps[step]));
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
  const auto records = m_context.store.records(key_of(parts));
  for (const auto& record : records) {
    if (auto differs = difference(record); !differs.empty())
      why = std::move(differs);
    else if (!complete(step, record))
      why = "the store lost what it made";
    else
      return record;
  }
  return std::nullopt;
}

/// As it was last made, by either argv.
std::optional<ActionRecord> Executor::find_either(const Step& step, const KeyParts& parts, std::string& why) const {
  if (auto record = find_record(step, parts, why)) return record;
  if (step.fallback_argv.empty()) return std::nullopt;
  const auto fallback = m_keys.action(step, true);
  return fallback ? find_record(step, *fallback, why) : std::nullopt;
}

std::optional<ActionRecord> Executor::find_device(const std::string& key) const {
  for (auto& record : m_context.store.records(key))
    if (difference(record).empty() &&
        std::ranges::all_of(record.outputs, [&](const RecordedOutput& o) { return m_context.store.has(o.object); }))
      return std::move(record);
  return std::nullopt;
}

/// What a record was made with and is not so now: a header, the time. "" = nothing.
std::string Executor::difference(const ActionRecord& record) const {
  if (!record.epoch.empty() && record.epoch != m_context.epoch) return "SOURCE_DATE_EPOCH, which what it read names";
  for (const auto& [name, sha256] : record.headers) {
    const auto content = m_hashes.of(real_path(name));
    if (!content || content->sha256 != sha256) return "header " + name + (content ? "" : ", which is not there");
  }
  return {};
}

/// Where no record holds: what differs from the last time that this step was made.
std::string Executor::why_not_kept(const Step& step, const KeyParts& parts, std::string why) const {
  if (!why.empty()) return why;
  const auto last = m_context.store.parts(history_key(step));
  if (last.empty()) return "it was never made before";
  const auto changed = changed_parts(last, parts);
  return changed.empty() ? "the store lost its record" : join(changed, ", ");
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
    return fmt::format("{}: not in the store: {}", step.id, why_not_kept(step, *parts, std::move(why)));
  });
  return false;
}

TaskOutcome Executor::execute(std::size_t index, unsigned attempt, std::stop_token stop, StepReport& report) {
  if (attempt == 0 && reuse(index, report)) return TaskOutcome::done;
  if (report.error) return TaskOutcome::failed;
  return run_step(index, stop, report);
}

Result<Command> Executor::command_for(const Step& step, const std::vector<std::string>& argv,
                                      const char* log_suffix) const {
  Command command;
  TRY_ASSIGN(command.argv, m_context.symbols.expand(argv));
  command.environment = m_context.environment;
  for (const auto& line : step.environment) {
    TRY_ASSIGN(const auto text, m_context.symbols.expand_word(line));
    const auto equals = text.find('=');
    if (equals != std::string::npos) command.environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  command.working_directory = m_context.source.folder;
  command.output_file = m_context.work / "logs" / (step.id + log_suffix);
  return command;
}

/// Device code is shared in one direction: what was compiled for this machine's CPU serves for another one.
Result<CommandResult> Executor::run_command(const Step& step, const std::vector<std::string>& argv,
                                            const Command& command, std::stop_token stop, DeviceWork& device) {
  if (const auto parts = device_step(step, argv)) {
    TRY_ASSIGN(const auto key_parts, m_keys.device(step, *parts));
    device.key = key_of(key_parts);
    device.platform = parts->platform;
    const bool own = parts->platform == m_context.platform;
    auto known = own ? std::nullopt : find_device(device.key);
    if (!own)
      log_line(m_context.log, LogLevel::info, [&] {
        return fmt::format("{}: device code {}", step.id,
                           known ? "reused from the store" : "not in the store: nvcc is run as a whole");
      });
    if (own || known) device.nvcc.emplace(m_context.store, m_context.work / "tmp", std::move(known));
  }
  return device.nvcc ? device.nvcc->run(command, m_context.runner, stop) : m_context.runner.run(command, stop);
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
  DeviceWork device;
  for (const auto* argv : {&step.argv, &step.fallback_argv}) {
    fallback = argv == &step.fallback_argv;
    auto command = command_for(step, *argv, fallback ? ".fallback.log" : ".log");
    if (!command) return give_up(command.error());
    if (own_copy)
      command->working_directory = own_copy->path() / m_context.source.folder.lexically_relative(m_context.source.root);
    // Old outputs may be hard links into the store: they are never written to.
    for (const auto& output : step.outputs) {
      remove_quietly(real_path(output));
      if (auto made = make_directories(real_path(output).parent_path()); !made) return give_up(made.error());
    }
    device.nvcc.reset();
    const auto result = run_command(step, *argv, *command, stop, device);
    if (!result) return give_up(result.error());
    add(report.measured, *result);
    if (device.nvcc && !device.nvcc->why_whole().empty())
      report.retried = "the device code in the store does not do for it: " + device.nvcc->why_whole();
    if (result->ok()) break;
    report.failure = {{},
                      step.id,
                      result->exit_code,
                      command->output_file,
                      tail(command->output_file),
                      command->argv,
                      command->working_directory};
    if (result->timed_out) report.failure.cause += "\nit took too long";
    if (ran_out_of_memory(*result, report.failure.cause)) return TaskOutcome::out_of_memory;
    if (fallback || step.fallback_argv.empty()) return TaskOutcome::failed;
    report.retried = "the lean header does not do for it: " + report.failure.cause;
  }
  if (auto kept = keep(index, fallback, device, report); !kept) return give_up(kept.error());
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
/// checked next time.
bool Executor::add_read(const Step& step, const DeviceWork& device, ActionRecord& record) const {
  const bool compiles = step.kind == StepKind::compile || step.kind == StepKind::bind;
  const auto listed = std::ranges::find_if(step.outputs, is_depfile);
  if (listed == step.outputs.end()) return !compiles;
  const auto text = read_file(real_path(*listed));
  if (!text) return false;
  const auto& source = m_context.source;
  std::map<std::string, std::string> headers;
  bool names_time = false;
  // The host's half saw its own pass alone: what the passes for the device read is in the record of their code.
  if (device.nvcc && device.nvcc->device_record() != nullptr) {
    for (const auto& [name, sha256] : device.nvcc->device_record()->headers) headers[name] = sha256;
    names_time = !device.nvcc->device_record()->epoch.empty();
  }
  for (const auto& file : parse_depfile(*text)) {
    const fs::path path = (source.folder / file).lexically_normal();  // an absolute one stays itself
    std::error_code error;
    const auto canonical = fs::weakly_canonical(path, error);
    const auto content = m_hashes.of(path);
    if (content) names_time |= content->names_time;
    if (m_context.symbols.covers(path) || m_context.symbols.covers(canonical)) continue;
    if (!content) return false;
    auto name = is_below(path, source.root) ? "{source}/" + path.lexically_relative(source.folder).generic_string()
                                            : m_context.symbols.name_by_role(path);
    if (name.empty()) name = m_context.symbols.name_by_role(canonical);
    headers[name.empty() ? path.string() : name] = content->sha256;
  }
  record.headers.assign(headers.begin(), headers.end());
  if (names_time) record.epoch = m_context.epoch;
  return true;
}

Status Executor::keep(std::size_t index, bool fallback, const DeviceWork& device, StepReport& report) {
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
  if (add_read(step, device, record)) {
    TRY(m_context.store.add_record(key_of(parts), record));
    if (device.nvcc) TRY(device.nvcc->keep(device.key, of_every_cpu(record, device.platform)));
  }
  m_context.store.remember(history_key(step), report.measured);
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
