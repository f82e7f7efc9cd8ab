#include "archive/zip_library.hpp"
#include "build/dry_run.hpp"
#include "build/executor.hpp"
#include "build/launcher.hpp"
#include "build/open_store.hpp"
#include "build/progress.hpp"
#include "build/stage.hpp"
#include "build/step_environment.hpp"
#include "build/symbols.hpp"
#include "plan/half_costs.hpp"
#include "source/prepared_source.hpp"
#include "support/format.hpp"
#include "support/parallel.hpp"
#include "support/run_owner.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/build.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <unordered_set>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

/// What a step writes between and removes, before anyone knows (sage2's texts and PTX: docs/measured.md).
constexpr std::uint64_t k_files_between = std::uint64_t{64} << 20;

/// For files between; what is kept needs some, too.
std::uint64_t disk_budget(const fs::path& work) {
  std::error_code error;
  const auto space = fs::space(work, error);
  return error ? 0 : std::max<std::uint64_t>(space.available / 2, 1);
}

/// The cells that can be built here; when there is none, the error of the first one's missing part.
Result<std::vector<const Cell*>> buildable_cells(const Plan& plan) {
  std::vector<const Cell*> cells;
  for (const auto& cell : plan.cells)
    if (cell.buildable) cells.push_back(&cell);
  if (!cells.empty()) return cells;
  if (plan.cells.empty())
    return fail(ErrorKind::no_match, "BLD001", "the plan has no cell to build",
                plan.excluded.empty()
                    ? ""
                    : fmt::format("{} is excluded: {}", plan.excluded.front().id, plan.excluded.front().reason));
  const auto& first = plan.cells.front();
  // What no fetch mends decides.
  const auto lasting = std::ranges::find_if(
      first.lacks, [](const Lack& lack) { return lack.kind != LackKind::nvcc && lack.kind != LackKind::torch; });
  auto error = first.lacks.empty()            ? Error{ErrorKind::machine, "BLD001", first.why_not, {}, {}}
               : lasting == first.lacks.end() ? first.lacks.front().error
                                              : lasting->error;
  error.where = first.id;
  return std::unexpected(std::move(error));
}

fs::path work_folder(const Store& store, const Plan& plan, const PreparedSource& source,
                     const std::vector<const Step*>& steps) {
  Sha256 hash;
  hash.field(plan.plugin_name);
  hash.field(source.key);
  for (const auto* step : steps) hash.field(step->id);
  return store.folder("work") / (hash.hex().substr(0, 16) + "@" + own_mark());
}

/// The steps of this machine's part, with what all shards share: nothing that needs another step.
std::vector<const Step*> part_of(const Plan& plan, std::vector<const Step*> steps, const std::optional<Shard>& shard) {
  if (!shard) return steps;
  const auto ids = shards_of(plan, shard->count).at(shard->index - 1);
  std::erase_if(steps, [&](const Step* step) { return !std::ranges::binary_search(ids, step->id); });
  return steps;
}

/// What is run: the plan's steps, and behind them the GPU code that those of them need which the store does not have.
struct Work {
  std::vector<const Step*> steps;
  std::vector<std::optional<StepReport>> known;  ///< of steps whose results were found before anything was run
  std::vector<std::size_t> device_of;            ///< task - steps.size() -> action
  std::vector<std::size_t> begun;                ///< behind those: compile steps whose host's code is begun before
  std::vector<Step> begins;                      ///< as people see them
  std::vector<Task> tasks;

  std::size_t first_begin() const { return steps.size() + device_of.size(); }
  const Step& step_of(std::size_t task, const DeviceHalves& devices) const {
    if (task >= first_begin()) return begins[task - first_begin()];
    return task >= steps.size() ? devices.actions()[device_of[task - steps.size()]].step : *steps[task];
  }
};

/// Of a host's half that was begun: fatbinary and the assembler (0.5 of 18 s, sage2's f16 source).
constexpr double k_left_of_begun = 0.05;

/// The host's code of a compile step, as a step of its own: "host-MODULE-SOURCE-..".
Step host_step(const Step& compile, std::size_t archs) {
  constexpr std::string_view k_compile = "compile-";
  auto step = compile;
  step.kind = StepKind::host;
  step.id = "host-" + (step.id.starts_with(k_compile) ? step.id.substr(k_compile.size()) : step.id);
  step.argv.push_back("host");  // its history is its own
  step.depends.clear();
  step.cost = host_cost(compile.cost, archs);
  return step;
}

Task task_of(const Executor& executor, const Step& step, const Cost& cost) {
  Task task;
  if (step.kind != StepKind::link) task.disk_bytes = k_files_between;
  task.cpu_seconds = cost.cpu_seconds;
  task.memory_bytes = cost.memory_bytes;
  if (const auto known = executor.history(step)) {
    task.cpu_seconds = known->cpu_seconds;
    task.memory_bytes = known->peak_memory_bytes;
    task.wall_seconds = known->wall_seconds;
    if (known->disk_bytes > 0) task.disk_bytes = known->disk_bytes;
  }
  return task;
}

/// Steps that nvcc makes are looked up first: nobody needs the GPU code of one that is there, but who proves it.
Work work_of(std::vector<const Step*> steps, Executor& executor, std::size_t jobs, bool prove, bool compiles) {
  Work work;
  work.steps = std::move(steps);
  work.known.resize(work.steps.size());
  const auto& actions = executor.devices().actions();
  std::unordered_map<std::string, std::size_t> by_id;
  std::unordered_map<std::size_t, std::size_t> task_of_action;
  std::vector<std::size_t> compiled, archs(work.steps.size());
  for (std::size_t i = 0; i < work.steps.size(); ++i) {
    by_id[work.steps[i]->id] = i;
    if (executor.devices().has(i)) compiled.push_back(i);
  }
  for (const auto& action : actions)
    for (const auto user : action.users) ++archs[user];
  run_in_parallel(compiled.size(), static_cast<unsigned>(jobs), [&](std::size_t i) {
    StepReport report;
    if (executor.reuse(compiled[i], report) || report.error) work.known[compiled[i]] = std::move(report);
  });
  for (std::size_t i = 0; i < work.steps.size(); ++i) {
    auto task = task_of(executor, *work.steps[i],
                        archs[i] == 0 ? work.steps[i]->cost : host_cost(work.steps[i]->cost, archs[i]));
    if (work.known[i]) task = Task{};
    for (const auto& id : work.steps[i]->depends)
      if (const auto found = by_id.find(id); found != by_id.end()) task.depends.push_back(found->second);
    work.tasks.push_back(std::move(task));
  }
  for (std::size_t d = 0; compiles && d < actions.size(); ++d) {
    bool needed = prove;
    for (const auto user : actions[d].users) {
      if (work.known[user]) continue;
      needed = true;
      work.tasks[user].depends.push_back(work.tasks.size());
    }
    if (!needed) continue;
    task_of_action[d] = work.tasks.size();
    work.device_of.push_back(d);
    work.tasks.push_back(task_of(executor, actions[d].step, actions[d].step.cost));
  }
  // Its host's code need not wait for all of a step's GPU code.
  for (const auto i : compiled) {
    const auto last = executor.devices().last_of(*work.steps[i], i);
    if (!compiles || work.known[i] || !last) continue;
    work.begun.push_back(i);
    work.begins.push_back(host_step(*work.steps[i], archs[i]));
    work.tasks[i].depends.push_back(work.tasks.size());
    if (!executor.history(*work.steps[i])) work.tasks[i].cpu_seconds *= k_left_of_begun;
    work.tasks.push_back(task_of(executor, work.begins.back(), work.begins.back().cost));
    work.tasks.back().depends.push_back(task_of_action.at(*last));
  }
  return work;
}

/// Of a step that was killed for its memory, the second time with nothing beside it.
std::string alone_too(const Measured& measured) {
  return fmt::format(
      "\nit ran out of memory again when it ran alone: {:.2f} GB were not enough. More for this machine, container or "
      "job (Slurm's --mem), or swap, helps; fewer --jobs do not",
      static_cast<double>(measured.peak_memory_bytes) / 1e9);
}

/// Those with much less behind them than the longest chain has: what decides when all ends gets the CPUs first, also
/// where compilers with several threads want more of them than there are.
std::unordered_set<std::string> yielding_steps(const Work& work, Executor& executor) {
  constexpr double k_much_less = 0.6;
  const auto paths = critical_paths(work.tasks);
  const double longest = paths.empty() ? 0 : *std::ranges::max_element(paths);
  std::unordered_set<std::string> ids;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths[i] < k_much_less * longest) ids.insert(work.step_of(i, executor.devices()).id);
  }
  return ids;
}

/// Stages each cell as soon as all of its steps are done.
class CellStages {
 public:
  CellStages(StageContext stage, const std::vector<const Step*>& steps, Executor& executor, Progress& progress)
      : m_stage(std::move(stage)),
        m_executor(executor),
        m_progress(progress),
        m_done(steps.size(), false),
        m_cells(m_stage.plan.cells.size()) {
    for (std::size_t i = 0; i < steps.size(); ++i) m_by_id[steps[i]->id] = i;
    m_stage.outputs = [this](const std::string& id) { return outputs(id); };
    m_stage.restore = [this](const std::string& id) -> Status {
      TRY_ASSIGN(const auto index, index_of(id));
      return m_executor.place_outputs(index, m_stop);
    };
    m_stage.proof = [this](const Cell& cell) { return m_executor.devices().proof(cell); };
  }

  void step_done(std::size_t index, const std::stop_token& stop) {
    const std::lock_guard lock(m_mutex);
    m_done[index] = true;
    m_stop = stop;
    for (std::size_t i = 0; i < m_cells.size(); ++i) {
      const auto& cell = m_stage.plan.cells[i];
      if (m_cells[i] || !cell.buildable ||
          !std::ranges::all_of(cell.steps, [&](const auto& id) { return is_done(id); }))
        continue;
      m_cells[i] = stage_cell(cell, m_stage);
      if (*m_cells[i]) m_progress.staged(**m_cells[i]);
    }
  }

  /// Into the build, in the plan's order, with those that were not finished.
  Status take(Build& build) {
    std::set<std::string> failed;
    for (const auto& failure : build.failed) failed.insert(failure.cell);
    for (std::size_t i = 0; i < m_cells.size(); ++i) {
      const auto& id = m_stage.plan.cells[i].id;
      if (m_cells[i]) {
        TRY_ASSIGN(auto staged, std::move(*m_cells[i]));
        build.cells.push_back(std::move(staged));
      } else if (!failed.contains(id)) {
        build.skipped.push_back(id);
      }
    }
    return {};
  }

 private:
  bool is_done(const std::string& id) const {
    const auto found = m_by_id.find(id);
    return found != m_by_id.end() && m_done[found->second];
  }

  Result<std::size_t> index_of(const std::string& id) const {
    if (!is_done(id)) return fail(ErrorKind::bug, "BLD003", "the plan has no finished step " + id);
    return m_by_id.at(id);
  }

  Result<std::vector<RecordedOutput>> outputs(const std::string& id) {
    TRY_ASSIGN(const auto index, index_of(id));
    return m_executor.outputs(index);
  }

  StageContext m_stage;
  Executor& m_executor;
  Progress& m_progress;
  std::mutex m_mutex;
  std::stop_token m_stop;
  std::unordered_map<std::string, std::size_t> m_by_id;
  std::vector<bool> m_done;
  std::vector<std::optional<Result<CellBuild>>> m_cells;
};

}  // namespace

Result<Build> run_build(const Spec& spec, const Plan& plan, const Environment& environment, const BuildOptions& options,
                        CommandRunner& runner, BuildObserver& observer, std::stop_token stop) {
  TRY_ASSIGN(const auto cells, buildable_cells(plan));
  const auto steps = part_of(plan, steps_of(plan, cells), options.shard);
  if (options.dry_run) {
    // What would be fetched first is not here yet.
    TRY(check_store(options.store, std::ranges::any_of(cells, [](const Cell* cell) { return !cell->toolchain; })));
    return look_into_store(spec, plan, environment, options, cells, steps, runner, observer, stop);
  }

  const auto say = [&observer](const std::string& text) { observer.on_message(text); };
  TRY_ASSIGN(const auto opened, open_store(options, plan.plugin_name + " " + plan.commit.substr(0, 12), say));
  const Store& store = opened.store;
  TRY(check_space(store.root()));
  // Of what is missing all is named.
  SchedulerLimits limits{options.jobs, options.memory_bytes, options.keep_going || options.require_hits,
                         options.stop_after};
  if (limits.jobs == 0) limits.jobs = static_cast<std::size_t>(std::max(environment.cpus, 1));
  if (limits.memory_bytes == 0) limits.memory_bytes = environment.memory_bytes / 5 * 4;
  limits.disk_bytes = disk_budget(store.root());

  TRY_ASSIGN(const auto source, prepare_source(spec, plan, options,
                                               {store, runner, options.child_environment, say, stop, options.log,
                                                options.offline, opened.read_only}));
  const auto work = work_folder(store, plan, source, steps);
  TRY(make_directories(work / "logs"));
  TRY_ASSIGN(const auto scratch, TemporaryFolder::create(work / "tmp", "t"));
  TRY_ASSIGN(const auto links, links_folder(options));

  TRY_ASSIGN(auto symbols, resolve_symbols(spec, plan, cells, environment.platform, store, links.path()));
  symbols.set("source", ".");
  symbols.set("work", work.string());
  TRY_ASSIGN(const auto epoch, source_date_epoch(plan.revision.date));
  LaunchingRunner launching(options.launcher, options.launcher_environment, runner);
  std::unordered_set<std::string> yielding;
  Executor executor(
      {store, symbols, source, work, step_environment(options.child_environment, cells, scratch.path(), epoch, limits),
       epoch, launching, environment.platform, options.log, ToolStamps(cells), options.step_timeout_seconds,
       options.nice, options.require_hits, &yielding},
      steps);
  auto all = work_of(steps, executor, limits.jobs, options.prove != BuildOptions::Prove::none, !options.require_hits);
  // What packs the wheels is missed before minutes of compiling, not after them.
  if (!options.shard && !std::ranges::all_of(all.known, [](const auto& report) { return report.has_value(); }))
    TRY(zip_library());
  yielding = yielding_steps(all, executor);
  std::vector<double> estimates;
  for (const auto& task : all.tasks) estimates.push_back(task.cpu_seconds);
  Progress progress(observer, estimates, limits.jobs);

  CellStages cells_done({spec, plan, source, store, {}, {}, {}}, steps, executor, progress);
  const auto run_one = [&](std::size_t index, unsigned attempt, std::stop_token token) {
    const bool begins = index >= all.first_begin(), device = index >= steps.size() && !begins;
    const auto action = device ? all.device_of[index - steps.size()] : 0;
    const Step& step = all.step_of(index, executor.devices());
    std::vector<std::string> before;
    for (const auto task : all.tasks[index].depends) before.push_back(all.step_of(task, executor.devices()).id);
    progress.started(step, std::move(before));
    StepReport report;
    auto outcome = TaskOutcome::done;
    if (begins) {
      const auto user = all.begun[index - all.first_begin()];
      outcome = executor.devices().begin_host(user, *steps[user], token, report);
      if (outcome == TaskOutcome::done) executor.remember(step, report.measured);
    } else if (device) {
      outcome = executor.devices().make(action, token, report);
      if (report.outcome == StepOutcome::finished && outcome == TaskOutcome::done)
        executor.remember(step, report.measured);
      // A sample is one architecture of each source: headers are what is in doubt, and they are the source's.
      const auto prove = options.prove == BuildOptions::Prove::all ||
                         (options.prove == BuildOptions::Prove::sample && executor.devices().in_sample(action));
      if (prove && outcome == TaskOutcome::done) outcome = executor.devices().prove(action, token, report);
    } else if (all.known[index]) {
      report = std::move(*all.known[index]);
      if (report.error) outcome = TaskOutcome::failed;
    } else {
      outcome = executor.execute(index, attempt, token, report);
    }
    // What its parts reported on the way there does not matter: a step that will not be run again has failed.
    const bool no_memory = outcome == TaskOutcome::out_of_memory, again = no_memory && attempt + 1 < k_most_attempts;
    if (!again && (no_memory || outcome == TaskOutcome::failed)) report.outcome = StepOutcome::failed;
    if (!again && no_memory) report.failure.cause += alone_too(report.measured);
    name_real_places(report.failure, links.path());
    if (outcome != TaskOutcome::stopped) progress.ended(index, step, std::move(report), again);
    if (index < steps.size() && outcome == TaskOutcome::done) cells_done.step_done(index, token);
    return outcome;
  };
  const auto outcomes = run_tasks(all.tasks, limits, run_one, stop);
  if (stop.stop_requested())
    return fail(ErrorKind::interrupted, "BLD006", "stopped; finished steps are kept", "run it again to go on");
  if (progress.error()) return std::unexpected(*progress.error());

  Build build;
  build.place = opened.place;
  progress.add_to(build);
  TRY(cells_done.take(build));
  if (options.stop_after && build.failed.empty())
    build.steps_left = static_cast<std::uint64_t>(std::ranges::count(outcomes, TaskOutcome::stopped));
  if (opened.journal) opened.journal->ended(build.steps_run, build.steps_reused, build.steps_failed);
  if (build.failed.empty()) remove_quietly(work);  // of a failed one the logs are wanted, until the next build
  for (const auto& cell : build.cells) settle_stamps(cell);
  return build;
}

}  // namespace sagekit
