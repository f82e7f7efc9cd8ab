#include "session.hpp"

#include "provisioning.hpp"

#include <sagekit/nearest.hpp>
#include <sagekit/provision.hpp>

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

}  // namespace

Result<LoadedPlugins> Session::plugins() const {
  PluginSearch search;
  for (const auto& plugin : global.plugins)
    if (names_a_file(plugin)) search.files.emplace_back(plugin);
  for (const auto& folder : global.plugin_dirs) search.folders.emplace_back(folder);
  search.folders.insert(search.folders.end(), settings.plugin_path.begin(), settings.plugin_path.end());
  LoadedPlugins loaded = load_plugins(search);
  for (const auto& rejected : loaded.rejected) {
    if (rejected.asked_for) {
      for (const auto& diagnostic : rejected.spec) console.show(diagnostic);
      return std::unexpected(rejected.error);
    }
  }
  return loaded;
}

Result<Plugin> Session::plugin() const {
  auto loaded = plugins();
  if (!loaded) return std::unexpected(loaded.error());
  for (const auto& rejected : loaded->rejected)
    console.warn(fmt::format("plugin not loaded: {}", rejected.error.message), rejected.error.hint);
  const auto& list = loaded->plugins;
  if (global.plugins.size() > 1)
    return fail(ErrorKind::usage, "PLG010", "this command works with one plugin, but several were given",
                "give --plugin once");
  if (global.plugins.empty()) {
    if (list.empty())
      return fail(ErrorKind::usage, "PLG011", "no plugin is loaded",
                  "name one with --plugin FILE, or its folder with --plugin-dir DIR");
    return fail(ErrorKind::usage, "PLG012",
                fmt::format("choose a variant; loaded are: {}", fmt::join(names_of(list), ", ")),
                fmt::format("for example: sagekit --plugin {} plan", list.front().name()));
  }
  const std::string& wanted = global.plugins.front();
  for (const auto& plugin : list)
    if (plugin.name() == wanted) return plugin;
  if (names_a_file(wanted)) {
    std::error_code ignored;
    for (const auto& plugin : list)
      if (std::filesystem::equivalent(plugin.path(), wanted, ignored)) return plugin;
  }
  return fail(ErrorKind::usage, "PLG013", fmt::format("no plugin is named \"{}\"", wanted),
              suggestion(wanted, names_of(list)));
}

Result<std::filesystem::path> Session::store(const std::string& flag) const {
  const std::filesystem::path folder = flag.empty() ? settings.store : std::filesystem::path(flag);
  if (folder.empty())
    return fail(ErrorKind::usage, "CLI005", "no folder for finished steps and toolchains: HOME is not set",
                "name one with --store DIR or SAGEKIT_STORE");
  std::error_code ignored;
  return std::filesystem::absolute(folder, ignored);
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
  auto sources = read_sources(tools);
  if (!sources) return std::unexpected(sources.error());
  ProbeOptions options;
  options.path = settings.path;
  options.cuda_homes = settings.cuda_homes;
  options.home = settings.home;
  options.child_environment = settings.child_environment;
  options.folders = sources->folders;
  std::error_code error;
  for (const auto& folder : tools.python_headers) {
    if (!std::filesystem::is_directory(folder, error))
      return fail(ErrorKind::usage, "CLI003", fmt::format("--python-headers {}: no such folder", folder),
                  "a folder with Python.h, or what dpkg-deb -x made of a libpython3.N-dev package");
    options.python_headers.push_back(std::filesystem::absolute(folder, error));
  }
  if (const auto folder = store(tools.store); folder && !sources->present.empty()) {
    auto usable = usable_trees(*folder / "toolchains", tools.lock, tools.locked);
    if (!usable) return std::unexpected(usable.error());
    for (const auto& tree : *usable)
      if (std::ranges::find(sources->present, tree.source) != sources->present.end())
        options.provisioned.emplace_back(tree.folder, tree.source);
  }
  auto environment = probe_environment(options, *runner);
  // Host compilers and Pythons are always the machine's; its nvcc and torch only where the system is a source.
  if (!sources->system) {
    std::erase_if(environment.nvcc, [](const Nvcc& nvcc) { return nvcc.source == "system"; });
    std::erase_if(environment.torches, [](const TorchSysroot& torch) { return torch.source == "system"; });
  }
  return environment;
}

Request make_request(const SelectionArguments& selection, const Settings& settings) {
  Request request;
  request.profile = selection.profile;
  request.cells = selection.cells;
  request.pythons = selection.pythons;
  request.torches = selection.torches;
  request.cudas = selection.cudas;
  request.platforms = selection.platforms;
  request.arches = selection.arches.empty() ? settings.arch_list : selection.arches;
  request.revision = selection.revision;
  request.naming = selection.naming;
  request.backend = selection.backend;
  request.allowed_defects = selection.allowed_defects;
  return request;
}

int report(const Session& session, const Error& error) {
  session.console.show(error);
  return exit_code(error.kind);
}

}  // namespace sagekit::host
