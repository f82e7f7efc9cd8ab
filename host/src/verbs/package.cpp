#include "interrupt.hpp"
#include "output_lock.hpp"
#include "packaging.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sagekit::host {

namespace {

struct PackageArguments {
  std::string folder, output = "dist", naming;
  std::vector<std::string> interpreters;
};

void declare(Flags& flags, PackageArguments& arguments) {
  flags.argument("folder", arguments.folder, "A build folder, or a folder of such");
  flags.value("-o,--output", "DIR", arguments.output, "Folder for the wheels");
  flags.value("--naming", "SCHEME", arguments.naming, "Naming scheme: default, local-version, build-tag, plain");
  declare_interpreters(flags, arguments.interpreters);
  flags.reads("SAGEKIT_STORE", "Where fetched torches are, which symbols are looked up in");
}

int run(Session& session, const PackageArguments& arguments) {
  auto interpreters = find_interpreters(session, arguments.interpreters);
  if (!interpreters) return report(session, interpreters.error());
  auto builds = load_builds(arguments.folder);
  if (!builds) return report(session, builds.error());
  auto loaded = session.plugins();
  if (!loaded) return report(session, loaded.error());
  auto lock = OutputLock::acquire(arguments.output, session.console, stop_on_signals());
  if (!lock) return report(session, lock.error());

  PackageOptions options;
  options.compressed = make_compressed_parts();
  options.output_folder = arguments.output;
  options.naming = arguments.naming;
  options.schemes = session.schemes;
  options.verify.interpreters = std::move(*interpreters);
  options.verify.child_environment = session.settings.child_environment;
  options.verify.schemes = session.schemes;
  options.verify.torches = session.fetched_torches();
  options.verify.fetch_flags = session.store_words("");
  Packaging all;
  Build made;
  std::optional<Error> problem;  // after which nothing more is packaged
  for (const auto& build : *builds) {
    const std::string name = build.cell.id.substr(0, build.cell.id.find('-'));
    const auto plugin = std::ranges::find(loaded->plugins, name, &Plugin::name);
    if (plugin == loaded->plugins.end())
      return report(session, {ErrorKind::usage, "PLG013",
                              fmt::format("{} was built with plugin {}, which is not loaded", build.cell.id, name), "",
                              "name it with --plugin FILE"});
    auto packaged = problem ? std::unexpected(*problem) : package_cells(session, *plugin, {build}, options);
    if (!packaged) {
      problem = packaged.error();
      made.failed.push_back(not_packaged(build.cell.id, *problem));
      continue;
    }
    all.wheels.insert(all.wheels.end(), packaged->wheels.begin(), packaged->wheels.end());
    all.refused.insert(all.refused.end(), packaged->refused.begin(), packaged->refused.end());
    made.failed.insert(made.failed.end(), packaged->failed.begin(), packaged->failed.end());
  }
  if (session.global.json) {
    session.console.document(build_json(made, all.wheels, all.refused));
  } else {
    for (const auto& wheel : all.wheels) session.console.result(wheel.path.string() + "\n");
  }
  if (problem) return report(session, *problem);
  return all.refused.empty() && made.failed.empty() ? 0 : 1;
}

}  // namespace

std::vector<Verb> package_verbs() {
  return {make_verb<PackageArguments>(
      {.name = "package",
       .what = "Make wheels again from a finished build kept in the store",
       .examples = {"sagekit package ~/.cache/sagekit/builds/sage2-pytorch211-cu130-python312-1f2e3d4c",
                    "sagekit package BUILD --naming build-tag -o release"},
       .exits = {{0, "every wheel is in the output folder"},
                 {1, "a wheel was refused, or a name is taken by a different file"}}},
      declare, run)};
}

}  // namespace sagekit::host
