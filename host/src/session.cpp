#include "session.hpp"

#include <sagekit/nearest.hpp>

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

Result<Environment> Session::environment(const std::vector<std::string>& toolchains) const {
  ProbeOptions options;
  options.path = settings.path;
  options.cuda_homes = settings.cuda_homes;
  options.home = settings.home;
  options.child_environment = settings.child_environment;
  bool others = toolchains.empty();
  for (const auto& source : toolchains) {
    if (source == "auto" || source == "system") {
      others = true;
    } else if (source.starts_with("folder:")) {
      const std::filesystem::path folder = source.substr(7);
      std::error_code error;
      if (!std::filesystem::is_directory(folder, error))
        return fail(ErrorKind::usage, "CLI003", fmt::format("--toolchain folder:{}: no such folder", folder.string()));
      options.folders.push_back(std::filesystem::absolute(folder, error));
    } else {
      return fail(ErrorKind::usage, "CLI003", fmt::format("unknown toolchain source \"{}\"", source),
                  "one of: auto, system, folder:DIR");
    }
  }
  // A folder adds to the machine's tools and is preferred; `folder:` alone still needs the machine's host compiler.
  options.system = others || !options.folders.empty();
  return probe_environment(options, *runner);
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
