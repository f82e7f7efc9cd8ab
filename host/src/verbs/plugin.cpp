#include "interrupt.hpp"
#include "render/table.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/plugin.hpp>
#include <sagekit/plugin_conformance.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sagekit::host {

namespace {

struct PluginListArguments {};
struct PluginShowArguments {
  std::string name;
};
struct PluginCheckArguments {
  std::vector<std::string> files;
};
/// One conformance test in this process; what `plugin check` starts for each test.
struct PluginCheckOneArguments {
  std::string file, test;
};

void declare(Flags&, PluginListArguments&) {}
void declare(Flags& flags, PluginShowArguments& arguments) { flags.argument("name", arguments.name, "Plugin name"); }
void declare(Flags& flags, PluginCheckArguments& arguments) {
  flags.arguments("file", arguments.files, "Plugin files").required = true;
}
void declare(Flags& flags, PluginCheckOneArguments& arguments) {
  flags.argument("file", arguments.file, "Plugin file");
  flags.argument("test", arguments.test, "The test's id");
}

std::string capabilities(const std::vector<Capability>& list) {
  std::vector<std::string> names;
  for (const auto& capability : list) names.push_back(to_string(capability));
  return fmt::format("{}", fmt::join(names, " "));
}

std::string count_of_sources(const KernelSpec& kernel) {
  const std::size_t count = kernel.sources.size() + kernel.bindings.size();
  return count == 1 ? "1 source" : fmt::format("{} sources", count);
}

std::string spec_text(const Console& console, const Spec& spec) {
  std::string text = fmt::format("{} {}: {}\n\n", console.bold(spec.name), spec.version, spec.description);
  text += console.bold("Source") +
          fmt::format("  {}{}\n", spec.source.url, spec.source.subdir.empty() ? "" : " (" + spec.source.subdir + ")");
  Rows revisions;
  for (const auto& revision : spec.source.revisions)
    revisions.push_back(
        {revision.commit == spec.source.default_commit ? "*" : "", revision.commit.substr(0, 7),
         revision.date.substr(0, 10), revision.version, fmt::format("{}", fmt::join(revision.names, " ")),
         revision.defects.empty() ? "" : fmt::format("defects: {}", fmt::join(revision.defects, ", "))});
  text += table(revisions);
  text += console.bold("Architectures") + "\n";
  Rows arches;
  for (const auto& arch : spec.arches) {
    std::vector<std::string> gencode;
    for (const auto& code : arch.gencode) gencode.push_back(code.ptx ? compute_name(code.code) : sm_name(code.code));
    arches.push_back({to_string(arch.capability), fmt::format("{}", fmt::join(gencode, " ")),
                      arch.cuda.text.empty() ? "" : "nvcc " + arch.cuda.text,
                      !arch.excluded.empty() ? "never: " + arch.excluded
                      : arch.on_request      ? "only when asked for"
                                             : ""});
  }
  text += table(arches);
  text += console.bold("Modules") + "\n";
  Rows modules;
  for (const auto& kernel : spec.kernels)
    modules.push_back({kernel.module, capabilities(kernel.capabilities), count_of_sources(kernel)});
  text += table(modules);
  text += console.bold("What the package does") + "\n";
  Rows dispatch;
  for (const auto& row : spec.dispatch)
    dispatch.push_back({to_string(row.capability), row.refused.empty() ? row.path : "refused: " + row.refused});
  text += table(dispatch);
  text += console.bold("Profiles") + "\n";
  Rows profiles;
  for (const auto& profile : spec.profiles) profiles.push_back({profile.name, profile.description});
  return text + table(profiles);
}

int run(Session& session, const PluginListArguments&) {
  auto loaded = session.plugins();
  if (!loaded) return report(session, loaded.error());
  if (session.global.json) {
    session.console.document(plugins_json(*loaded));
    return 0;
  }
  Rows rows;
  for (const auto& plugin : loaded->plugins)
    rows.push_back({session.console.bold(plugin.name()), plugin.spec().version, plugin.spec().metadata.name,
                    plugin.spec().description, session.console.dim(plugin.path().string())});
  session.console.result(rows.empty() ? "no plugin is loaded\n" : table(rows, ""));
  for (const auto& rejected : loaded->rejected) session.console.show(rejected.error);
  for (const auto& [hidden, by] : loaded->shadowed)
    session.console.say(fmt::format("{} is hidden by {}", hidden.string(), by.string()));
  return 0;
}

int run(Session& session, const PluginShowArguments& arguments) {
  session.global.plugins.push_back(arguments.name);  // a file is loaded
  const auto plugin = session.plugin(arguments.name);
  if (!plugin) return report(session, plugin.error());
  if (session.global.json)
    session.console.document(plugin_json(*plugin));
  else
    session.console.result(spec_text(session.console, plugin->spec()));
  return 0;
}

int run(Session& session, const PluginCheckArguments& arguments) {
  const std::stop_token stop = stop_on_signals();
  const Console& console = session.console;
  const ConformanceOptions options{.executable = session.settings.executable,
                                   .child_environment = session.settings.child_environment};
  int code = 0;
  std::vector<ConformanceReport> reports;
  for (const auto& file : arguments.files) {
    auto checked = check_plugin(file, options, *session.runner, stop);
    if (!checked) {
      code = std::max(code, report(session, checked.error()));
      continue;
    }
    if (!checked->passed()) code = std::max(code, 1);
    reports.push_back(std::move(*checked));
    if (session.global.json) continue;
    Rows rows;
    for (const auto& result : reports.back().results)
      rows.push_back({result.passed ? console.green("pass") : console.red("fail"), result.id,
                      result.passed ? result.promise : result.message, console.dim(human_seconds(result.seconds))});
    console.result(fmt::format("{}\n{}", console.bold(file), table(rows)));
  }
  if (session.global.json) console.document(conformance_json(reports));
  return code;
}

int run(Session& session, const PluginCheckOneArguments& arguments) {
  const auto result = run_conformance_test(arguments.file, arguments.test);
  if (!result) return report(session, result.error());
  session.console.document(conformance_line(*result));
  return result->passed ? 0 : 1;
}

}  // namespace

std::vector<Verb> plugin_verbs() {
  return {
      make_group({.name = "plugin",
                  .what = "Loaded and rejected plugins",
                  .examples = {"sagekit plugin list", "sagekit plugin check lib/sagekit/plugins/sagekit-sage2.so"}}),
      make_verb<PluginListArguments>({.name = "plugin list",
                                      .what = "Which plugins are loaded, which were refused and why",
                                      .examples = {"sagekit plugin list", "sagekit plugin list --json"}},
                                     declare, run),
      make_verb<PluginShowArguments>({.name = "plugin show",
                                      .what = "What a plugin says",
                                      .examples = {"sagekit plugin show sage2", "sagekit plugin show sage3 --json"}},
                                     declare, run),
      make_verb<PluginCheckArguments>(
          {.name = "plugin check",
           .what = "The conformance kit, each test in a process of its own",
           .examples = {"sagekit plugin check sagekit-mine.so", "sagekit plugin check --json sagekit-mine.so"},
           .exits = {{0, "every test passed"}, {1, "a test failed"}}},
          declare, run),
      make_verb<PluginCheckOneArguments>({.name = "plugin check-one",
                                          .what = "One conformance test in this process",

                                          .hidden = true},
                                         declare, run)};
}

}  // namespace sagekit::host
