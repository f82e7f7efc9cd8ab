#include "building_here.hpp"
#include "interrupt.hpp"
#include "printable.hpp"
#include "provisioning.hpp"
#include "render/checkup_text.hpp"
#include "render/companion_text.hpp"
#include "render/table.hpp"
#include "render/text.hpp"
#include "resolving.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/build.hpp>
#include <sagekit/checkup.hpp>
#include <sagekit/doctor.hpp>
#include <sagekit/resolve.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace sagekit::host {

namespace {

struct DoctorArguments {
  SelectionArguments selection;
  std::string interpreter, target, source;
  std::vector<std::string> vendored;
  bool report = false;
};

void declare(Flags& flags, DoctorArguments& arguments) {
  declare_selection(flags, arguments.selection);
  flags.value("--interpreter", "PATH", arguments.interpreter,
              "Look at this Python's packages, and at what they will do on this machine's GPU; without it the active "
              "environment's, when no --plugin is given");
  declare_machine(flags, arguments.target,
                  "With --interpreter: on another GPU than this machine's, as gpu=\"RTX 5090\",driver=580");
  flags.value("--source", "DIR|URL", arguments.source,
              "The source that build would be given: a folder, an archive or an address");
  flags.list("--vendored", "NAME=DIR", arguments.vendored, "A vendored tree that build would be given");
  flags.on("--report", arguments.report,
           "Print a block for a bug report: what was found, without names, homes, tokens");
  flags.reads("VIRTUAL_ENV", "The active environment");
}

std::string cell_text(const Console& console, const CellDiagnosis& cell) {
  Rows rows;
  for (const auto& part : cell.parts) {
    const auto state = part.state == PartState::here        ? console.green("here")
                       : part.state == PartState::fetchable ? console.yellow("comes")
                                                            : console.red("lacking");
    rows.push_back({part.what, state, part.found});
    if (part.mend.empty()) continue;
    rows.push_back({"", "", (part.kind == PartKind::platform ? "" : "mend: ") + part.mend});
  }
  std::string text = console.bold(cell.cell) + "\n" + table(rows, "  ", terminal_width());
  for (const auto& note : cell.notes)
    text += wrap(printable(note), fmt::format("  {} ", console.dim("note")), "       ", terminal_width());
  return text;
}

std::string text_of(const Console& console, const Diagnosis& diagnosis) {
  std::string text;
  for (const auto& cell : diagnosis.cells) text += cell_text(console, cell);
  for (const auto& companion : diagnosis.companions) text += "\n" + companion_text(console, companion);
  if (!diagnosis.lacking())
    return text + "\nThis machine can build it: run the same command with build instead of doctor.\n";
  const bool mendable = std::ranges::any_of(diagnosis.cells, [](const CellDiagnosis& cell) {
    return std::ranges::any_of(cell.parts, [](const ToolchainPart& part) {
      return part.state == PartState::lacking && part.kind != PartKind::platform;
    });
  });
  if (mendable) return text + "\nThis machine cannot build all of it yet: run what stands after \"mend:\".\n";
  return text + "\nThis machine cannot build all of it.\n";
}

/// The source and the store beside each cell's tools: one look for all, by the checks of build. Of a cell that nothing
/// builds here they say nothing.
void add_inputs(const Session& session, const Spec& spec, const PlannedMachine& machine, const BuildOptions& options,
                Diagnosis& diagnosis) {
  const auto lacking = [](PartKind kind, std::string what, const Error& error) {
    return ToolchainPart{kind, PartState::lacking, std::move(what), error.message, error.hint};
  };
  const auto is_fetched = [](const CellDiagnosis& cell) {
    return std::ranges::find(cell.parts, PartState::fetchable, &ToolchainPart::state) != cell.parts.end();
  };
  const bool fetches = std::ranges::any_of(diagnosis.cells, is_fetched);
  const auto checked = check_store(options.store, fetches);
  ToolchainPart store{PartKind::store, PartState::here, "store", options.store.string(), ""};
  if (!checked) store = lacking(PartKind::store, store.what, checked.error());
  ToolchainPart source{PartKind::source, PartState::here, "source " + machine.plan.commit.substr(0, 12), "", ""};
  const auto place = look_for_source(spec, machine.plan, options, *session.runner);
  if (!place)
    source = lacking(PartKind::source, source.what, place.error());
  else if (!place->empty())
    source.found = place->string();
  else
    source.state = PartState::fetchable,
    source.found =
        "not here; build fetches it from " + (options.source.empty() ? machine.plan.source_url : options.source);
  for (auto& cell : diagnosis.cells) {
    if (std::ranges::find(cell.parts, PartKind::platform, &ToolchainPart::kind) != cell.parts.end()) continue;
    cell.parts.push_back(source);
    cell.parts.push_back(store);
  }
}

/// Is it about an environment, not about a build?
bool about_environment(const Session& session, const DoctorArguments& arguments) {
  if (!arguments.interpreter.empty() || !arguments.target.empty() || arguments.report) return true;
  return session.global.plugins.empty() && session.settings.pip_environment.contains("VIRTUAL_ENV");
}

/// Those that --plugin names, else all.
Result<std::vector<const Plugin*>> asked_plugins(const Session& session, const LoadedPlugins& loaded) {
  std::vector<const Plugin*> chosen;
  const bool all = session.global.plugins.empty();
  for (const auto& plugin : loaded.plugins)
    if (all || session.asks_for(plugin)) chosen.push_back(&plugin);
  if (!chosen.empty() || all) return chosen;
  // The words for a name that nobody has.
  const auto plugin = session.plugin();
  return plugin ? Result<std::vector<const Plugin*>>(chosen) : std::unexpected(plugin.error());
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Result<CheckupOptions> checkup_options(const Session& session, const DoctorArguments& arguments) {
  CheckupOptions options;
  const auto interpreter = chosen_interpreter(session, arguments.interpreter);
  if (!interpreter) return std::unexpected(interpreter.error());
  if (interpreter->empty())
    return fail(ErrorKind::usage, "VFY019", "no Python was found", "--interpreter .venv/bin/python");
  options.interpreter = *interpreter;
  const auto tools = toolchain_options(session, arguments.selection.tools);
  if (!tools) return std::unexpected(tools.error());
  options.probe = tools->probe;
  options.variables = session.settings.python_environment;
  std::error_code error;
  options.folder = std::filesystem::current_path(error);
  const auto temporary = options.variables.find("TMPDIR");
  options.work_folders = {temporary == options.variables.end() ? "/tmp" : temporary->second};
  if (const auto store = session.store(arguments.selection.tools.store)) options.work_folders.push_back(*store);
  options.asked_for_packages = !session.global.plugins.empty();
  if (arguments.target.empty()) return options;
  const auto target = parse_target(arguments.target, {});
  if (!target) return std::unexpected(target.error());
  if (!target->gpus || target->has_torch || !target->python.empty() || !target->platform.empty())
    return fail(ErrorKind::usage, "CLI001", "doctor's --for takes gpu and driver only",
                "the rest is asked of the Python that --interpreter names");
  options.gpus = target->gpus;
  return options;
}

int check_environment(Session& session, const DoctorArguments& arguments) {
  const auto stop = stop_on_signals();
  const auto loaded = session.plugins();
  if (!loaded) return report(session, loaded.error());
  auto options = checkup_options(session, arguments);
  if (!options) return report(session, options.error());
  auto plugins = asked_plugins(session, *loaded);
  if (!plugins) return report(session, plugins.error());
  options->plugins = std::move(*plugins);
  options->can_build = [](const Spec& spec, const std::string& torch, const std::string& cuda,
                          const std::string& python, Capability gpu) {
    Target target;
    target.platform = this_platform();
    std::tie(target.torch, target.torch_cuda, target.python) = std::tie(torch, cuda, python);
    target.gpus = {{"", gpu, ""}};
    return profile_for(spec, target).has_value();
  };
  const auto checkup = check_up(*options, *session.runner, stop);
  if (!checkup) return report(session, checkup.error());
  auto names = session.settings.private_words;
  names.push_back(host_name());
  if (arguments.report)
    session.console.document(checkup_report(*checkup, *options, names));
  else if (session.global.json)
    session.console.document(checkup_json(*checkup));
  else
    session.console.result(checkup_text(session.console, *checkup));
  return checkup->wrong() ? exit_code(ErrorKind::failed) : 0;
}

int run(Session& session, const DoctorArguments& arguments) {
  if (session.global.json && arguments.report)
    return report(session, {ErrorKind::usage, "CLI001", "--json and --report both want stdout", "", "choose one"});
  if (about_environment(session, arguments)) return check_environment(session, arguments);
  auto plugin = session.plugin();
  if (!plugin && session.global.plugins.empty())
    plugin.error().hint += "; or of an environment: sagekit doctor --interpreter .venv/bin/python";
  if (!plugin) return report(session, plugin.error());
  const auto store = session.store(arguments.selection.tools.store);
  if (!store) return report(session, store.error());
  const auto options = toolchain_options(session, arguments.selection.tools);
  if (!options) return report(session, options.error());
  auto request = make_request(arguments.selection, session);
  request.with_steps = false;
  const auto machine =
      plan_here(plugin->spec(), request, {plugin->path().string(), plugin->sha256()}, *options, *session.runner);
  if (!machine) return report(session, machine.error());
  show_diagnostics(session, machine->plan);
  auto diagnosis = diagnose(plugin->spec(), *machine, *options);
  BuildOptions build;
  build.store = *store;
  build.source = arguments.source;
  auto vendored = vendored_trees(arguments.vendored);
  if (!vendored) return report(session, vendored.error());
  build.vendored = std::move(*vendored);
  build.offline = arguments.selection.tools.offline;
  build.child_environment = session.settings.child_environment;
  add_inputs(session, plugin->spec(), *machine, build, diagnosis);
  if (session.global.json)
    session.console.document(diagnosis_json(diagnosis));
  else
    session.console.result(text_of(session.console, diagnosis));
  return diagnosis.lacking() ? exit_code(ErrorKind::machine) : 0;
}

}  // namespace

std::vector<Verb> doctor_verbs() {
  return {make_verb<DoctorArguments>(
      {.name = "doctor",
       .what = "What this machine lacks for a cell, or what an environment's packages will do on its GPU; and the mend",
       .examples = {"sagekit --plugin sage2 doctor", "sagekit --plugin sage2 doctor --profile current --python 3.13",
                    "sagekit doctor --interpreter .venv/bin/python",
                    "sagekit --plugin sage2 doctor --interpreter .venv/bin/python --for 'gpu=RTX 5090'",
                    "sagekit doctor --interpreter .venv/bin/python --report"},
       .exits =
           {{0,
             "it can build every selected cell, or build fetches what is missing; nothing in the environment is wrong"},
            {1, "something is wrong with the environment"},
            {3, "something is lacking that has to be installed"},
            {4, "no cell matches the selection"}}},
      declare, run)};
}

}  // namespace sagekit::host
