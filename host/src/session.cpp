#include "session.hpp"

#include "output_lock.hpp"
#include "provisioning.hpp"

#include <sagekit/log.hpp>
#include <sagekit/naming.hpp>
#include <sagekit/nearest.hpp>
#include <sagekit/provision.hpp>
#include <sagekit/shell_word.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sagekit::host {

namespace {

bool names_a_file(const std::string& plugin) {
  return plugin.find('/') != std::string::npos || plugin.ends_with(".so");
}

std::vector<std::string> names_of(const std::vector<Plugin>& plugins) {
  std::vector<std::string> names;
  for (const auto& plugin : plugins) names.push_back(plugin.name());
  return names;
}

/// By a name or a file, however that is written.
bool is_called(const Plugin& plugin, const std::string& wanted) {
  std::error_code ignored;
  return plugin.name() == wanted ||
         (names_a_file(wanted) && std::filesystem::equivalent(plugin.path(), wanted, ignored));
}

/// For who names the package: what of the plugins makes it; "" = none does.
std::string makers_of(const std::string& package, const std::vector<Plugin>& plugins) {
  std::vector<std::string> makers;
  for (const auto& plugin : plugins)
    if (normalized_project(plugin.spec().metadata.name) == normalized_project(package)) makers.push_back(plugin.name());
  if (makers.empty()) return "";
  return fmt::format("{} is a package; --plugin {} makes it", package, fmt::join(makers, " or --plugin "));
}

/// A folder that was named on purpose.
Status check_folder(const std::string& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return {};
  return fail(ErrorKind::usage, "PLG002", fmt::format("--plugin-dir {}: no such folder", folder),
              "a folder that holds sagekit-NAME.so", folder);
}

}  // namespace

Result<LoadedPlugins> Session::plugins() const {
  PluginSearch search;
  for (const auto& plugin : global.plugins)
    if (names_a_file(plugin)) search.files.emplace_back(plugin);
  for (const auto& folder : global.plugin_dirs) {
    if (const auto checked = check_folder(folder); !checked) return std::unexpected(checked.error());
    search.folders.emplace_back(folder);
  }
  search.folders.insert(search.folders.end(), settings.plugin_path.begin(), settings.plugin_path.end());
  if (!settings.store.empty()) search.kept_specs = settings.store / "specs";
  LoadedPlugins loaded = load_plugins(search);
  for (const auto& rejected : loaded.rejected) {
    if (rejected.asked_for) {
      for (const auto& diagnostic : rejected.spec) console.show(diagnostic);
      return std::unexpected(rejected.error);
    }
  }
  return loaded;
}

bool Session::asks_for(const Plugin& plugin) const {
  return std::ranges::any_of(global.plugins, [&](const std::string& wanted) { return is_called(plugin, wanted); });
}

Result<Plugin> Session::plugin() const {
  if (global.plugins.size() > 1)
    return fail(ErrorKind::usage, "PLG010", "this command works with one plugin, but several were given",
                "give --plugin once");
  return global.plugins.empty() ? plugin("") : plugin(global.plugins.front());
}

Result<Plugin> Session::plugin(const std::string& wanted) const {
  auto loaded = plugins();
  if (!loaded) return std::unexpected(loaded.error());
  for (const auto& rejected : loaded->rejected)
    console.warn(fmt::format("plugin not loaded: {}", rejected.error.message), rejected.error.hint);
  const auto& list = loaded->plugins;
  if (wanted.empty()) {
    if (list.empty())
      return fail(ErrorKind::usage, "PLG011", "no plugin is loaded",
                  "name one with --plugin FILE, or its folder with --plugin-dir DIR");
    // A cell's id begins with its variant; of "sage2" and "sage2-stable" the longer name is meant, which comes later.
    const auto meant = std::find_if(list.rbegin(), list.rend(), [&](const Plugin& one) {
      return (" " + global.typed).find(" " + one.name() + "-") != std::string::npos;
    });
    const auto& one = meant == list.rend() ? list.front() : *meant;
    return fail(ErrorKind::usage, "PLG012",
                fmt::format("choose a variant; loaded are: {}", fmt::join(names_of(list), ", ")),
                fmt::format("for example: sagekit --plugin {} {}", one.name(), global.typed));
  }
  for (const auto& plugin : list)
    if (is_called(plugin, wanted)) return plugin;
  std::string hint = makers_of(wanted, list);
  if (hint.empty()) {
    const std::string near = suggestion(wanted, names_of(list));
    hint = near + (near.empty() ? "" : "; ") + "one that is not loaded by --plugin FILE";
  }
  return fail(ErrorKind::usage, "PLG013", fmt::format("no plugin is named \"{}\"", wanted), hint);
}

Result<std::filesystem::path> Session::store_to_write(const std::string& flag, const char* part) const {
  auto named = store(flag);
  if (!named || !flag.empty() || settings.own_store.empty()) return named;
  const auto is_free = [&](const std::filesystem::path& one) { return OutputLock::check(one / part).has_value(); };
  if (is_free(*named) || !is_free(settings.own_store)) return named;
  log_line(log, LogLevel::info, [&] {
    return fmt::format("{} cannot be written: {} serves", named->string(), settings.own_store.string());
  });
  return settings.own_store;
}

Result<std::filesystem::path> Session::store(const std::string& flag) const {
  const std::filesystem::path folder = flag.empty() ? settings.store : std::filesystem::path(flag);
  if (folder.empty())
    return fail(ErrorKind::usage, "CLI005", "no folder for finished steps and toolchains: HOME is not set",
                "name one with --store DIR or SAGEKIT_STORE");
  std::error_code ignored;
  return std::filesystem::absolute(folder, ignored);
}

std::string Session::store_words(const std::string& flag) const {
  std::error_code ignored;
  const auto folder = store(flag);
  if (!folder || *folder == std::filesystem::absolute(settings.usual_store, ignored)) return {};
  return " --store " + shell_word(folder->string());
}

std::vector<TorchSysroot> Session::fetched_torches() const {
  const auto folder = store("");
  if (!folder) return {};
  ProbeOptions options;
  options.system = false;
  for (const auto& tree : trees(*folder / "toolchains"))
    if (tree.kind == TreeKind::torch) options.provisioned.emplace_back(tree.folder, tree.source);
  return probe_environment(options, *runner).torches;
}

Result<Environment> Session::environment(const ToolchainArguments& tools) const {
  const auto options = toolchain_options(*this, tools);
  if (!options) return std::unexpected(options.error());
  return find_toolchains(*options, *runner);
}

Request make_request(const SelectionArguments& selection, const Session& session) {
  Request request;
  request.profile = selection.profile;
  request.cells = selection.cells;
  request.pythons = selection.pythons;
  request.torches = selection.torches;
  request.cudas = selection.cudas;
  request.platforms = selection.platforms;
  request.arches = selection.arches.empty() ? session.settings.arch_list : selection.arches;
  request.revision = selection.revision;
  request.naming = selection.naming;
  if (selection.backend == "setup-py") request.backend = Backend::setup_py;
  request.allowed_defects = selection.allowed_defects;
  request.schemes = session.schemes;
  request.overrides = session.overrides;
  return request;
}

bool is_program(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto status = fs::status(path, error);
  const auto exec = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  return fs::is_regular_file(status) && (status.permissions() & exec) != fs::perms::none;
}

Result<std::filesystem::path> find_interpreter(const Session& session, const std::filesystem::path& word) {
  std::error_code error;
  for (const auto& program : {word, word / "bin/python"})
    if (program.has_parent_path() && is_program(program))
      return std::filesystem::absolute(program, error).lexically_normal();
  if (!word.has_parent_path())
    for (const auto& folder : session.settings.path)
      if (is_program(folder / word)) return folder / word;
  const char* why = std::filesystem::is_symlink(word, error) && !std::filesystem::is_directory(word, error)
                        ? "it leads to a program that is not there, or that this user may not start"
                    : std::filesystem::is_symlink(word / "bin/python", error)
                        ? "its bin/python leads to a program that is not there, or that this user may not start"
                    : std::filesystem::is_directory(word, error) ? "it is a folder that has no bin/python"
                    : !word.has_parent_path()                    ? "PATH has no such program"
                    : !std::filesystem::exists(word, error)      ? "there is no such program"
                                                                 : "it is no program: nobody may execute it";
  return fail(ErrorKind::usage, "VFY019", fmt::format("--interpreter {}: {}", word.string(), why),
              "name a Python that is there, as python3.12, or an environment's folder, as .venv", word.string());
}

Result<std::vector<std::filesystem::path>> find_interpreters(const Session& session,
                                                             const std::vector<std::string>& words) {
  std::vector<std::filesystem::path> programs;
  for (const auto& word : words) {
    auto program = find_interpreter(session, word);
    if (!program) return std::unexpected(program.error());
    programs.push_back(std::move(*program));
  }
  return programs;
}

void show_diagnostics(const Session& session, const Plan& plan) {
  if (session.console.quiet()) return;
  for (const auto& diagnostic : plan.diagnostics) session.console.show(diagnostic);
}

void answer_variables(const Session& session) {
  const bool builds = session.verb == "plan" || session.verb == "build" || session.verb == "generate";
  if (!builds && session.verb != "doctor") return;
  for (const auto& [variable, value] : variables_without_effect())
    if ((builds || variable.effect.empty()) && (!variable.ambient || session.global.verbose > 0))
      session.console.say(fmt::format("{} {}", session.console.dim("note"), variable_answer(variable, value)));
}

int report(const Session& session, const Error& error) {
  session.console.show(error);
  return exit_code(error.kind);
}

}  // namespace sagekit::host
