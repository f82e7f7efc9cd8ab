#include "output_lock.hpp"
#include "packaging.hpp"
#include "session.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sagekit::host {

int run_verb(Session& session, const PackageArguments& arguments) {
  auto builds = load_builds(arguments.folder);
  if (!builds) return report(session, builds.error());
  auto loaded = session.plugins();
  if (!loaded) return report(session, loaded.error());
  auto lock = OutputLock::acquire(arguments.output);
  if (!lock) return report(session, lock.error());

  PackageOptions options;
  options.output_folder = arguments.output;
  options.naming = arguments.naming;
  options.verify.interpreters.assign(arguments.interpreters.begin(), arguments.interpreters.end());
  options.verify.child_environment = session.settings.child_environment;
  options.verify.torches = session.fetched_torches();
  Packaging all;
  for (const auto& build : *builds) {
    const std::string name = build.cell.id.substr(0, build.cell.id.find('-'));
    const auto plugin = std::ranges::find(loaded->plugins, name, &Plugin::name);
    if (plugin == loaded->plugins.end())
      return report(session, {ErrorKind::usage, "PKG005",
                              fmt::format("{} was built with plugin {}, which is not loaded", build.cell.id, name), "",
                              "name it with --plugin FILE"});
    auto packaged = package_cells(session, *plugin, {build}, options);
    if (!packaged) return report(session, packaged.error());
    all.wheels.insert(all.wheels.end(), packaged->wheels.begin(), packaged->wheels.end());
    all.refused.insert(all.refused.end(), packaged->refused.begin(), packaged->refused.end());
  }
  if (session.global.json) {
    session.console.result(build_json({}, all.wheels, all.refused));
  } else {
    for (const auto& wheel : all.wheels) session.console.result(wheel.path.string() + "\n");
  }
  return all.refused.empty() ? 0 : 1;
}

}  // namespace sagekit::host
