#include "interrupt.hpp"
#include "output_lock.hpp"
#include "packaging.hpp"
#include "provisioning.hpp"
#include "render/build_progress.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/build.hpp>
#include <sagekit/build_report.hpp>
#include <sagekit/doctor.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace sagekit::host {

namespace {

struct BuildArguments {
  SelectionArguments selection;
  std::string output = "dist", source;
  std::vector<std::string> vendored;  ///< NAME=DIR
  std::size_t jobs = 0;
  std::uint64_t memory_bytes = 0;
  bool keep_going = false, dry_run = false, jsonl = false;
  std::vector<std::string> interpreters;
};

void declare(Flags& flags, BuildArguments& arguments) {
  declare_selection(flags, arguments.selection);
  flags.value("-o,--output", "DIR", arguments.output, "Folder for the wheels");
  flags.value("--source", "DIR|URL|ARCHIVE", arguments.source,
              "Source to build from instead of the spec's URL; its content is checked");
  flags.list("--vendored", "NAME=DIR", arguments.vendored, "A vendored tree given as a folder");
  flags.number("-j,--jobs", arguments.jobs, "Steps at a time; without it one a CPU");
  flags.memory("--memory", arguments.memory_bytes,
               "Memory budget of all steps together; without it 80 % of the machine");
  flags.on("--keep-going", arguments.keep_going, "Go on with what does not depend on a failed step");
  flags.on("-n,--dry-run", arguments.dry_run, "Say what would run; fetch and run nothing");
  flags.on("--jsonl", arguments.jsonl, "An event a line on stdout while it runs");
  declare_interpreters(flags, arguments.interpreters);
  flags.reads("CI", "Not empty: progress in plain lines");
}

void show_failure(const Session& session, const StepFailure& failure) {
  std::vector<std::string> words;
  for (const auto& word : failure.argv) words.push_back(shell_word(word));
  session.console.show(Error{ErrorKind::failed, "BLD001",
                             fmt::format("step {} of {} failed with exit code {}:\n\n{}\n", failure.step, failure.cell,
                                         failure.exit_code, failure.cause),
                             failure.log.string(),
                             fmt::format("rerun it with: cd {} && {}", shell_word(failure.working_directory.string()),
                                         fmt::join(words, " "))});
}

// Pythons that can import the cells' torch: what --interpreter was not asked for, but is there.
std::vector<std::filesystem::path> interpreters(const BuildArguments& arguments, const Environment& environment,
                                                const Plan& plan) {
  std::vector<std::filesystem::path> result(arguments.interpreters.begin(), arguments.interpreters.end());
  if (!result.empty()) return result;
  const bool needs_torch = std::ranges::any_of(plan.cells, [](const Cell& cell) { return !cell.torch.empty(); });
  std::set<std::string> minors;
  if (needs_torch) {
    for (const auto& torch : environment.torches)
      if (torch.ready && !torch.interpreter.empty() && minors.insert(torch.python).second)
        result.push_back(torch.interpreter);
  } else {
    for (const auto& python : environment.pythons)
      if (python.ready && !python.executable.empty() && minors.insert(python.minor).second)
        result.push_back(python.executable);
  }
  return result;
}

Result<BuildOptions> build_options(const Session& session, const BuildArguments& arguments) {
  BuildOptions options;
  auto store = session.store(arguments.selection.tools.store);
  if (!store) return std::unexpected(store.error());
  options.store = std::move(*store);
  options.source = arguments.source;
  for (const auto& pair : arguments.vendored) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(ErrorKind::usage, "CLI006", fmt::format("--vendored {}: not NAME=DIR", pair),
                  "for example --vendored cutlass=../cutlass");
    options.vendored.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  options.jobs = arguments.jobs;
  options.memory_bytes = arguments.memory_bytes;
  options.keep_going = arguments.keep_going;
  options.dry_run = arguments.dry_run;
  options.offline = arguments.selection.tools.offline;
  options.log = session.log;
  options.child_environment = session.settings.child_environment;
  return options;
}

// For who has another CUDA than the seeds had: the profile that comes closest to being built here.
std::string nearest_profile(const Plugin& plugin, Request request, const Environment& environment) {
  std::string best;
  int best_score = 0;
  const std::string asked = request.profile.empty() ? "default" : request.profile;
  request.cells.clear();
  request.with_steps = false;
  for (const auto& profile : plugin.spec().profiles) {
    if (profile.name == asked) continue;
    request.profile = profile.name;
    const auto plan = make_plan(plugin.spec(), request, environment);
    if (!plan) continue;
    int score = 0;
    for (const auto& cell : plan->cells)
      score = std::max(score, cell.buildable ? 2 : cell.lacks.front().kind != LackKind::nvcc ? 1 : 0);
    if (score > best_score) best = profile.name, best_score = score;
  }
  return best;
}

Error nothing_to_build(const Plan& plan) {
  std::string reasons;
  for (const auto& cell : plan.excluded) reasons += fmt::format("\n  {}: {} [{}]", cell.id, cell.reason, cell.source);
  return {ErrorKind::no_match, "PLN010", "every selected cell is excluded:" + reasons, "",
          "see sagekit plan for the others"};
}

/// What a build would fetch first: the cells that then lack nothing count as buildable.
void expect_fetched(const Session& session, const Plugin& plugin, PlannedMachine& machine,
                    const ToolchainOptions& tools) {
  const auto diagnosis = diagnose(plugin.spec(), machine, tools);
  std::set<std::string> said;
  for (auto& cell : machine.plan.cells) {
    const auto known = std::ranges::find(diagnosis.cells, cell.id, &CellDiagnosis::cell);
    if (cell.buildable || known == diagnosis.cells.end()) continue;
    if (std::ranges::any_of(known->parts, [](const auto& part) { return part.state == PartState::lacking; })) continue;
    cell.buildable = true;
    for (const auto& part : known->parts)
      if (part.state == PartState::fetchable && said.insert(part.what).second)
        session.console.say("would fetch " + part.what);
  }
}

/// Takes the cells out of the plan whose names are taken by wheels that it cannot make.
std::vector<StepFailure> drop_taken(const Session& session, Plan& plan, const std::filesystem::path& output) {
  std::vector<StepFailure> taken;
  std::erase_if(plan.cells, [&](const Cell& cell) {
    if (!cell.buildable) return false;
    const auto free = check_wheel_name(plan, cell, output);
    if (!free) taken.push_back(taken_name(session, cell.id, free.error()));
    return !free;
  });
  return taken;
}

int run(Session& session, const BuildArguments& arguments) {
  if (session.global.json && arguments.jsonl)
    return report(session, {ErrorKind::usage, "CLI001", "--json and --jsonl both want stdout", "",
                            "--json is one document at the end, --jsonl an event a line: choose one"});
  const std::stop_token stop = stop_on_signals();
  auto plugin = session.plugin();
  if (!plugin) return report(session, plugin.error());
  auto options = build_options(session, arguments);
  if (!options) return report(session, options.error());
  // A mistyped folder is told at once, not after gigabytes of tools were fetched.
  if (const auto given = check_given_places(plugin->spec(), *options); !given) return report(session, given.error());
  const auto request = make_request(arguments.selection, session);
  const auto tools = toolchain_options(session, arguments.selection.tools);
  if (!tools) return report(session, tools.error());
  auto ready = [&] {
    const PlanOrigin origin{plugin->path().string(), plugin->sha256()};
    if (arguments.dry_run) return plan_here(plugin->spec(), request, origin, *tools, *session.runner);
    TransferProgress progress(session.console, session.settings.ci);
    return make_ready(plugin->spec(), request, origin, *tools, *session.runner, progress, stop);
  }();
  if (!ready) return report(session, ready.error());
  if (arguments.dry_run) expect_fetched(session, *plugin, *ready, *tools);
  auto& [environment, plan] = *ready;
  show_diagnostics(session, plan);
  if (plan.cells.empty()) return report(session, nothing_to_build(plan));
  for (const auto& cell : plan.cells)
    for (const auto& note : cell.notes)
      session.console.say(fmt::format("{} {}: {}", session.console.dim("note"), cell.id, note));

  say_toolchains(session, *tools, plan);

  std::optional<OutputLock> lock;
  if (!arguments.dry_run) {
    const auto say = [&](const std::string& text) { session.console.say(text); };
    auto acquired = OutputLock::acquire(arguments.output, say, stop);
    if (!acquired) return report(session, acquired.error());
    lock.emplace(std::move(*acquired));
  }
  const auto taken = drop_taken(session, plan, arguments.output);
  Result<Build> build = Build{};
  if (!plan.cells.empty()) {
    BuildProgress progress(session.console, progress_form(session.global.quiet, arguments.jsonl, session.settings.ci));
    build = run_build(plugin->spec(), plan, environment, *options, *session.runner, progress, stop);
  }
  if (!build) {
    Error error = build.error();
    if (error.code == "TCH001")
      if (const auto profile = nearest_profile(*plugin, request, environment); !profile.empty())
        error.hint += fmt::format("; or --profile {}, which is for the CUDA that is here", profile);
    return report(session, error);
  }
  for (const auto& failure : build->failed) show_failure(session, failure);
  if (!arguments.dry_run)
    for (const auto& cell : build->skipped) session.console.warn(fmt::format("{} was not built", cell));

  PackageOptions package;
  package.output_folder = arguments.output;
  package.verify.interpreters = interpreters(arguments, environment, plan);
  package.verify.child_environment = session.settings.child_environment;
  package.verify.torches = environment.torches;
  auto packaging = package_cells(session, *plugin, build->cells, package);
  if (!packaging) return report(session, packaging.error());
  build->failed.insert(build->failed.end(), taken.begin(), taken.end());
  build->failed.insert(build->failed.end(), packaging->failed.begin(), packaging->failed.end());

  if (session.global.json) {
    session.console.document(build_json(*build, packaging->wheels, packaging->refused));
  } else if (build->steps_would_run) {
    session.console.say(
        fmt::format("{} steps would run, {} are in the store", *build->steps_would_run, build->steps_reused));
  } else if (!arguments.jsonl) {
    for (const auto& wheel : packaging->wheels) session.console.result(wheel.path.string() + "\n");
    session.console.say(fmt::format("{} steps run, {} kept from before; {}, {} of CPU time, up to {} in one step",
                                    build->steps_run, build->steps_reused, human_seconds(build->wall_seconds),
                                    human_seconds(build->cpu_seconds), human_bytes(build->peak_memory_bytes)));
  }
  if (!build->failed.empty() || !packaging->refused.empty()) return exit_code(ErrorKind::failed);
  return build->skipped.empty() || arguments.dry_run ? 0 : exit_code(ErrorKind::machine);
}

}  // namespace

std::vector<Verb> build_verbs() {
  return {make_verb<BuildArguments>(
      {.name = "build",
       .what = "Plan, build, verify and package into -o DIR",
       .examples = {"sagekit --plugin sage2 build --arch 9.0",
                    "sagekit --plugin sage3 build --profile current --source ../SageAttention --vendored "
                    "cutlass=../cutlass",
                    "sagekit --plugin sage2 build --jobs 8 --memory 24G -o release"},
       .exits = {{0, "every selected wheel is in the output folder"},
                 {1, "a step failed, a wheel was refused, or a name is taken by a different file"},
                 {4, "no cell matches the selection"}}},
      declare, run)};
}

}  // namespace sagekit::host
