#include "build/dry_run.hpp"
#include "build/executor.hpp"
#include "build/prepared_source.hpp"
#include "build/progress.hpp"
#include "build/stage.hpp"
#include "build/step_environment.hpp"
#include "build/symbols.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/build.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <unordered_map>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_free_bytes = std::uint64_t{1} << 30;

Status check_space(const fs::path& store) {
  std::error_code error;
  const auto space = fs::space(store, error);
  if (error || space.available >= k_free_bytes) return {};
  return fail(ErrorKind::machine, "STO002",
              fmt::format("only {} MiB are free at {}, a build needs 1 GiB", space.available >> 20, store.string()),
              "free some space, or point --store at another disk");
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
  auto error =
      first.lacks.empty() ? Error{ErrorKind::machine, "BLD001", first.why_not, {}, {}} : first.lacks.front().error;
  error.where = first.id;
  return std::unexpected(std::move(error));
}

fs::path work_folder(const Store& store, const Plan& plan, const PreparedSource& source,
                     const std::vector<const Step*>& steps) {
  Sha256 hash;
  hash.field(plan.plugin_name);
  hash.field(source.key);
  for (const auto* step : steps) hash.field(step->id);
  return store.folder("work") / hash.hex().substr(0, 16);
}

Result<FileLock> lock_work(const fs::path& work, BuildObserver& observer, const std::stop_token& stop) {
  bool told = false;
  for (;;) {
    TRY_ASSIGN(auto lock, FileLock::acquire(fs::path(work.string() + ".lock"), false));
    if (lock) return std::move(*lock);
    if (!told) observer.on_message("another sagekit builds the same; waiting for it");
    told = true;
    if (stop.stop_requested()) return fail(ErrorKind::interrupted, "BLD006", "stopped while waiting");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

std::vector<Task> tasks_for(const std::vector<const Step*>& steps, const Executor& executor,
                            const std::string& own_platform) {
  std::unordered_map<std::string, std::size_t> by_id;
  std::map<std::vector<std::string>, std::size_t> own_device;  // steps for this machine's CPU, by what they compile
  for (std::size_t i = 0; i < steps.size(); ++i) {
    by_id[steps[i]->id] = i;
    if (const auto device = device_step(*steps[i], steps[i]->argv); device && device->platform == own_platform)
      own_device[device->argv] = i;
  }
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Task task{{}, steps[i]->cost.cpu_seconds, steps[i]->cost.memory_bytes};
    if (const auto known = executor.history(i)) {
      task.cpu_seconds = known->cpu_seconds;
      task.memory_bytes = known->peak_memory_bytes;
    }
    for (const auto& id : steps[i]->depends)
      if (const auto found = by_id.find(id); found != by_id.end()) task.depends.push_back(found->second);
    // Another CPU's step waits for the device code that it can take over.
    if (const auto device = device_step(*steps[i], steps[i]->argv); device && device->platform != own_platform)
      if (const auto twin = own_device.find(device->argv); twin != own_device.end())
        task.depends.push_back(twin->second);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace

Result<Build> run_build(const Spec& spec, const Plan& plan, const Environment& environment, const BuildOptions& options,
                        CommandRunner& runner, BuildObserver& observer, std::stop_token stop) {
  TRY_ASSIGN(const auto cells, buildable_cells(plan));
  const auto steps = steps_of(plan, cells);
  if (options.dry_run) return look_into_store(spec, plan, environment, options, cells, runner, observer, stop);

  TRY_ASSIGN(const Store store, Store::open(options.store));
  TRY(check_space(store.root()));
  SchedulerLimits limits{options.jobs, options.memory_bytes, options.keep_going};
  if (limits.jobs == 0) limits.jobs = static_cast<std::size_t>(std::max(environment.cpus, 1));
  if (limits.memory_bytes == 0) limits.memory_bytes = environment.memory_bytes / 5 * 4;

  const auto say = [&observer](const std::string& text) { observer.on_message(text); };
  TRY_ASSIGN(const auto source,
             prepare_source(spec, plan, options,
                            {store, runner, options.child_environment, say, stop, options.log, options.offline}));
  const auto work = work_folder(store, plan, source, steps);
  TRY_ASSIGN(const auto lock, lock_work(work, observer, stop));
  TRY(make_directories(work / "logs"));
  TRY_ASSIGN(const auto scratch, TemporaryFolder::create(work / "tmp", "t"));
  TRY_ASSIGN(const auto links, links_folder(options));

  TRY_ASSIGN(auto symbols, resolve_symbols(spec, plan, cells, environment.platform, store, links.path()));
  symbols.set("source", ".");
  symbols.set("work", work.string());
  TRY_ASSIGN(const auto epoch, source_date_epoch(plan.revision.date));
  Executor executor(
      {store, symbols, source, work, step_environment(options.child_environment, cells, scratch.path(), epoch, limits),
       epoch, runner, environment.platform, options.log},
      steps);
  const auto tasks = tasks_for(steps, executor, environment.platform);
  std::vector<double> estimates;
  for (const auto& task : tasks) estimates.push_back(task.cpu_seconds);
  Progress progress(observer, estimates, limits.jobs);

  const auto outcomes = run_tasks(
      tasks, limits,
      [&](std::size_t index, unsigned attempt, std::stop_token token) {
        progress.started(index, *steps[index]);
        StepReport report;
        const auto outcome = executor.execute(index, attempt, std::move(token), report);
        if (outcome != TaskOutcome::stopped)
          progress.ended(index, *steps[index], std::move(report),
                         outcome == TaskOutcome::out_of_memory && attempt == 0);
        return outcome;
      },
      stop);
  if (stop.stop_requested())
    return fail(ErrorKind::interrupted, "BLD006", "stopped; finished steps are kept", "run it again to go on");
  if (progress.error()) return std::unexpected(*progress.error());

  Build build;
  std::unordered_map<std::string, std::size_t> by_id;
  for (std::size_t i = 0; i < steps.size(); ++i) by_id[steps[i]->id] = i;
  const auto outputs = [&](const std::string& step) -> Result<std::vector<RecordedOutput>> {
    const auto found = by_id.find(step);
    if (found == by_id.end() || outcomes[found->second] != TaskOutcome::done)
      return fail(ErrorKind::bug, "BLD003", "the plan has no finished step " + step);
    TRY(executor.place_outputs(found->second, stop));
    return executor.outputs(found->second);
  };
  const StageContext stage{spec, plan, source, store, outputs};
  std::set<std::string> failed;
  progress.add_to(build);
  for (const auto& failure : build.failed) failed.insert(failure.cell);
  for (const auto& cell : plan.cells) {
    const bool done = cell.buildable && std::ranges::all_of(cell.steps, [&](const std::string& id) {
                        const auto found = by_id.find(id);
                        return found != by_id.end() && outcomes[found->second] == TaskOutcome::done;
                      });
    if (done) {
      TRY_ASSIGN(auto staged, stage_cell(cell, stage));
      build.cells.push_back(std::move(staged));
    } else if (!failed.contains(cell.id)) {
      build.skipped.push_back(cell.id);
    }
  }
  progress.add_to(build);
  return build;
}

}  // namespace sagekit
