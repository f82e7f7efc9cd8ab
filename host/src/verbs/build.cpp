#include "building_in.hpp"
#include "covering.hpp"
#include "engine_flags.hpp"
#include "explain.hpp"
#include "interrupt.hpp"
#include "output_file.hpp"
#include "output_lock.hpp"
#include "packaging.hpp"
#include "provisioning.hpp"
#include "render/build_progress.hpp"
#include "render/build_trace.hpp"
#include "render/failed_steps.hpp"
#include "render/plan_text.hpp"
#include "render/text.hpp"
#include "session.hpp"
#include "store_flags.hpp"
#include "verb.hpp"
#include "wheel_maker.hpp"

#include <sagekit/build.hpp>
#include <sagekit/build_report.hpp>
#include <sagekit/doctor.hpp>
#include <sagekit/shell_word.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

namespace sagekit::host {

namespace {

constexpr int k_more_to_do = 75;  // EX_TEMPFAIL of sysexits.h: try again

struct BuildArguments {
  SelectionArguments selection;
  std::string output = "dist", source, missing_from;
  std::vector<std::string> vendored;  ///< NAME=DIR
  std::size_t jobs = 0;
  std::uint64_t memory_bytes = 0;
  bool keep_going = false, dry_run = false, jsonl = false, check_reproducible = false;
  double step_timeout_seconds = 0, stop_after_seconds = 0;
  std::size_t nice = 0;
  std::string prove, timeline, engine;
  GenerateArguments generate;  ///< of --in
  StoreArguments store;
  std::vector<std::string> interpreters;
};

void declare(Flags& flags, BuildArguments& arguments) {
  declare_selection(flags, arguments.selection);
  flags.value("--missing-from", "PLACE", arguments.missing_from, k_missing_from_text);
  flags.value("-o,--output", "DIR", arguments.output, "Folder for the wheels");
  flags.value("--source", "DIR|URL|ARCHIVE", arguments.source,
              "Source to build from instead of the spec's URL; its content is checked");
  flags.list("--vendored", "NAME=DIR", arguments.vendored, "A vendored tree given as a folder");
  flags.number("-j,--jobs", arguments.jobs, "Steps at a time; without it one a CPU");
  flags.reads("MAX_JOBS", "Steps at a time when --jobs is not given");
  flags.memory("--memory", arguments.memory_bytes,
               "Memory budget of all steps together; without it 80 % of the machine");
  flags.on("--keep-going", arguments.keep_going, "Go on with what does not depend on a failed step");
  flags.duration("--step-timeout", arguments.step_timeout_seconds, "End a command that takes longer; its step failed");
  flags.duration("--stop-after", arguments.stop_after_seconds,
                 "Start nothing that would not end in this time; exit 75 when there is more to do");
  flags.number("--nice", arguments.nice, "Priority of what it starts, 0 to 19: the rest of the machine goes first", 0);
  flags
      .value("--prove", "WHAT", arguments.prove,
             "Make GPU code of some sources (sample) or of all the plain way, too, and compare it by kernel")
      .choices = {"sample", "all"};
  flags.on("-n,--dry-run", arguments.dry_run, "Say what would run; fetch and run nothing");
  flags.on("--check-reproducible", arguments.check_reproducible,
           "Build all of it a second time, with nothing kept, and name the first difference");
  flags.on("--jsonl", arguments.jsonl, "An event a line on stdout while it runs");
  flags.value("--timeline", "FILE", arguments.timeline, "What ran when, as a trace that ui.perfetto.dev opens");
  flags.value("--in", "ENGINE", arguments.engine, "Build in a container or on a cluster, and collect the wheels")
      .choices = engines();
  declare_engine(flags, arguments.generate);
  declare_store_levels(flags, arguments.store);
  declare_interpreters(flags, arguments.interpreters);
  flags.reads("GITHUB_ACTIONS", "\"true\": the steps are a group of the log");
  flags.reads("CI", "Not empty: progress in plain lines");
}

// Pythons that can import the cells' torch: what --interpreter was not asked for, but is there.
std::vector<std::filesystem::path> importers(const Environment& environment, const Plan& plan) {
  std::vector<std::filesystem::path> result;
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

/// --jobs, else MAX_JOBS, else 0: a CPU each.
Result<std::size_t> steps_at_a_time(const Session& session, const BuildArguments& arguments) {
  const auto& text = session.settings.max_jobs;
  if (arguments.jobs > 0 || text.empty()) return arguments.jobs;
  std::size_t jobs = 0;
  Flags flags;
  flags.number("MAX_JOBS", jobs, "");
  if (auto taken = flags.flags().front().take(text); !taken) {
    taken.error().message = "MAX_JOBS: " + taken.error().message;
    return std::unexpected(taken.error());
  }
  session.console.say(fmt::format("steps at a time from MAX_JOBS: {}", jobs));
  return jobs;
}

Result<BuildOptions> build_options(const Session& session, const BuildArguments& arguments) {
  BuildOptions options;
  auto store = session.store(arguments.selection.tools.store);
  if (!store) return std::unexpected(store.error());
  options.store = std::move(*store);
  options.source = arguments.source;
  auto vendored = vendored_trees(arguments.vendored);
  if (!vendored) return std::unexpected(vendored.error());
  options.vendored = std::move(*vendored);
  const auto jobs = steps_at_a_time(session, arguments);
  if (!jobs) return std::unexpected(jobs.error());
  options.jobs = *jobs;
  options.memory_bytes = arguments.memory_bytes;
  options.keep_going = arguments.keep_going;
  options.dry_run = arguments.dry_run;
  if (arguments.step_timeout_seconds > 0) options.step_timeout_seconds = arguments.step_timeout_seconds;
  if (arguments.stop_after_seconds > 0)
    options.stop_after =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                               std::chrono::duration<double>(arguments.stop_after_seconds));
  if (arguments.nice > 19)
    return fail(ErrorKind::usage, "CLI002", fmt::format("--nice {} is more than 19", arguments.nice));
  if (arguments.nice > 0) options.nice = static_cast<int>(arguments.nice);
  if (!arguments.prove.empty())
    options.prove = arguments.prove == "all" ? BuildOptions::Prove::all : BuildOptions::Prove::sample;
  options.offline = arguments.selection.tools.offline;
  options.log = session.log;
  options.child_environment = session.settings.child_environment;
  if (const auto applied = apply_store(session, arguments.store, arguments.selection.tools.ca_bundle, options);
      !applied)
    return std::unexpected(applied.error());
  return options;
}

// For who has another CUDA than the seeds had: the profile that comes closest to being built here.
std::string nearest_profile(const Plugin& plugin, Request request, const Environment& environment) {
  std::string best;
  int best_score = 0;
  const auto no_compiler = [](const Lack& lack) {
    return lack.kind == LackKind::nvcc || lack.kind == LackKind::platform;
  };
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
      score = std::max(score, cell.buildable ? 2 : std::ranges::none_of(cell.lacks, no_compiler) ? 1 : 0);
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

int run_in_engine(Session& session, const BuildArguments& arguments, std::stop_token stop) {
  EngineBuild build{arguments.engine, arguments.selection, arguments.generate, arguments.output, arguments.source, {}};
  auto& cpus = build.generate.options.cpus;
  const auto jobs = cpus > 0 ? Result<std::size_t>(0) : steps_at_a_time(session, arguments);
  if (!jobs) return report(session, jobs.error());
  if (arguments.engine == "slurm" && cpus == 0) cpus = *jobs;  // a task's steps have a CPU each
  if (*jobs > 0) build.build_words.insert(build.build_words.end(), {"--jobs", std::to_string(*jobs)});
  if (arguments.memory_bytes > 0)
    build.build_words.insert(build.build_words.end(), {"--memory", std::to_string(arguments.memory_bytes)});
  if (arguments.keep_going) build.build_words.emplace_back("--keep-going");
  const auto ended = build_in(session, build, std::move(stop));
  return ended ? *ended : report(session, ended.error());
}

/// What this machine lacks for the cells that were left out: the errors that each of them gets when it is built alone.
void show_skipped(const Session& session, const Plan& plan, const std::vector<std::string>& skipped, bool dry_run) {
  for (const auto& id : skipped) {
    const auto cell = std::ranges::find(plan.cells, id, &Cell::id);
    session.console.warn(fmt::format("{} {} built", id, dry_run ? "would not be" : "was not"));
    if (cell == plan.cells.end() || cell->lacks.empty()) continue;
    Error error = cell->lacks.front().error;
    if (error.where.empty()) error.where = id;
    session.console.show(error);
  }
}

/// Its error is shown, and hides nothing of what the build has to say.
Status write_timeline(const Session& session, const BuildArguments& arguments, const BuildTrace& trace) {
  if (arguments.timeline.empty()) return {};
  if (arguments.dry_run) {
    session.console.say(fmt::format("nothing runs: {} is left as it is", arguments.timeline));
    return {};
  }
  auto written = write_output(arguments.timeline, OutputKind::timeline, trace.chrome_trace());
  if (!written) session.console.show(written.error());
  return written;
}

int run(Session& session, const BuildArguments& arguments) {
  if (session.global.json && arguments.jsonl)
    return report(session, {ErrorKind::usage, "CLI001", "--json and --jsonl both want stdout", "",
                            "--json is one document at the end, --jsonl an event a line: choose one"});
  if (const auto taken = check_engine_flags(session, arguments.engine); !taken) return report(session, taken.error());
  if (!arguments.timeline.empty())
    if (const auto free = check_output(arguments.timeline, OutputKind::timeline); !free)
      return report(session, free.error());
  const std::stop_token stop = stop_on_signals();
  if (!arguments.engine.empty()) return run_in_engine(session, arguments, stop);
  const auto interpreters = find_interpreters(session, arguments.interpreters);
  if (!interpreters) return report(session, interpreters.error());
  auto plugin = session.plugin();
  if (!plugin) return report(session, plugin.error());
  auto options = build_options(session, arguments);
  if (!options) return report(session, options.error());
  // A mistyped folder is told at once, not after gigabytes of tools were fetched.
  if (const auto given = check_given_places(plugin->spec(), *options); !given) return report(session, given.error());
  auto request = make_request(arguments.selection, session);
  const auto tools = toolchain_options(session, arguments.selection.tools);
  if (!tools) return report(session, tools.error());
  if (!arguments.missing_from.empty()) {
    auto rest = only_missing(session, *plugin, request, *tools, arguments.missing_from);
    if (!rest) return report(session, rest.error());
    request = std::move(*rest);
  }
  const auto right_content = [&](const Plan& plan) {
    return check_given_content(plugin->spec(), plan, *options, *session.runner, stop);
  };
  auto ready = [&] {
    const PlanOrigin origin{plugin->path().string(), plugin->sha256()};
    if (arguments.dry_run) return plan_here(plugin->spec(), request, origin, *tools, *session.runner);
    TransferProgress progress(session.console, session.settings.redraws);
    return make_ready(plugin->spec(), request, origin, *tools, *session.runner, progress, stop, right_content);
  }();
  if (!ready) return report(session, ready.error());
  if (arguments.dry_run) {
    expect_fetched(session, *plugin, *ready, *tools);
    if (const auto may = check_ready(*ready, *tools, right_content); !may) return report(session, may.error());
  }
  auto& [environment, plan] = *ready;
  show_diagnostics(session, plan);
  // With --missing-from there may be nothing left to do, which is no error.
  if (plan.cells.empty() && !request.only) return report(session, nothing_to_build(plan));
  for (const auto& note : plan_notes(plan)) session.console.say(session.console.dim("note") + " " + note);

  say_toolchains(session, *tools, plan);

  std::optional<OutputLock> lock;
  if (arguments.dry_run) {
    if (const auto free = OutputLock::check(arguments.output); !free) return report(session, free.error());
  } else {
    auto acquired = OutputLock::acquire(arguments.output, session.console, stop);
    if (!acquired) return report(session, acquired.error());
    lock.emplace(std::move(*acquired));
  }
  std::vector<StepFailure> taken;
  // A shard makes no wheel, and divides the plan as all other machines do.
  if (!options->shard) taken = drop_taken(session, plan, arguments.output);
  PackageOptions package;
  package.output_folder = arguments.output;
  package.compressed = make_compressed_parts();
  package.verify.interpreters = interpreters->empty() ? importers(environment, plan) : *interpreters;
  package.verify.child_environment = session.settings.child_environment;
  package.verify.schemes = session.schemes;
  package.verify.torches = environment.torches;
  package.verify.fetch_flags = tools->provision.fetch_flags;
  WheelMaker maker(session, *plugin, package,
                   progress_form(session.global.quiet, arguments.jsonl, session.settings.redraws));
  Result<Build> build = Build{};
  BuildTrace trace(maker);
  if (!plan.cells.empty()) build = run_build(plugin->spec(), plan, environment, *options, *session.runner, trace, stop);
  const Status timeline = write_timeline(session, arguments, trace);
  auto packaging = maker.finish(plan);
  if (!build) {
    Error error = build.error();
    if (error.code == "TCH001")
      if (const auto profile = nearest_profile(*plugin, request, environment); !profile.empty())
        error.hint += fmt::format("; or --profile {}, which is for the CUDA that is here", profile);
    if (auto ended = trace.so_far(); ended && session.global.json) {
      for (const auto& cell : plan.cells)
        if (std::ranges::find(packaging.wheels, cell.id, &PackagedWheel::cell) == packaging.wheels.end())
          ended->skipped.push_back(cell.id);
      session.console.document(build_json(*ended, packaging.wheels, packaging.refused, {}, {error}));
    }
    return report(session, error);
  }
  const auto causes = step_causes(*build, facts_of(environment));
  show_failed_steps(session.console, *build, causes);
  if (!options->shard) show_skipped(session, plan, build->skipped, arguments.dry_run);

  build->failed.insert(build->failed.end(), taken.begin(), taken.end());
  build->failed.insert(build->failed.end(), packaging.failed.begin(), packaging.failed.end());
  if (const auto& problem = maker.problem()) {
    if (session.global.json) session.console.document(build_json(*build, packaging.wheels, packaging.refused, causes));
    return report(session, *problem);
  }

  if (arguments.check_reproducible && build->failed.empty() && !arguments.dry_run) {
    auto different = check_reproducible(session, *plugin, plan, environment, *options, *build, stop);
    if (!different && session.global.json)
      session.console.document(build_json(*build, packaging.wheels, packaging.refused, causes, {different.error()}));
    if (!different) return report(session, different.error());
    build->failed.insert(build->failed.end(), different->begin(), different->end());
  }

  if (arguments.jsonl) session.console.document(end_event(*build, packaging.wheels.size()));
  if (session.global.json) {
    session.console.document(build_json(*build, packaging.wheels, packaging.refused, causes,
                                        timeline ? std::vector<Error>{} : std::vector{timeline.error()}));
  } else if (build->steps_would_run) {
    session.console.say(dry_run_summary(*build));
  } else if (!arguments.jsonl) {
    for (const auto& wheel : packaging.wheels) session.console.result(wheel.path.string() + "\n");
    session.console.say(fmt::format("{} run, {} kept from before; {}, {} of CPU time, up to {} in one step",
                                    counted(build->steps_run, "step", "steps"), build->steps_reused,
                                    human_seconds(build->wall_seconds), human_seconds(build->cpu_seconds),
                                    human_bytes(build->peak_memory_bytes)));
    if (const auto chain = trace.longest_chain(); !chain.empty()) session.console.say(chain);
  }
  if (!arguments.dry_run && !build->place) trim_to_limit(session, arguments.store, options->store);
  if (!build->failed.empty() || !packaging.refused.empty()) return exit_code(ErrorKind::failed);
  if (!timeline) return exit_code(timeline.error().kind);
  if (build->steps_left > 0) {
    session.console.say(fmt::format("{} left: run it again to go on", counted(build->steps_left, "step", "steps")));
    return k_more_to_do;
  }
  return build->skipped.empty() || options->shard ? 0 : exit_code(ErrorKind::machine);
}

}  // namespace

std::vector<Verb> build_verbs() {
  return {make_verb<BuildArguments>(
      {.name = "build",
       .what = "Plan, build, verify and package into -o DIR",
       .examples = {"sagekit --plugin sage2 build --arch 9.0",
                    "sagekit --plugin sage3 build --profile current --source ../SageAttention --vendored "
                    "cutlass=../cutlass",
                    "sagekit --plugin sage2 build --jobs 8 --memory 24G -o release",
                    "sagekit --plugin sage2 build --shard 2/8 --store-from https://cache.example.org --store-push"},
       .exits = {{0, "every selected wheel is in the output folder"},
                 {1, "a step failed, a wheel was refused, or a name is taken by a different file"},
                 {4, "no cell matches the selection"},
                 {k_more_to_do, "--stop-after: nothing failed and there is more to do"}}},
      declare, run)};
}

}  // namespace sagekit::host
