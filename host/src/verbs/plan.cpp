#include "covering.hpp"
#include "provisioning.hpp"
#include "render/plan_text.hpp"
#include "render/text.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/build.hpp>
#include <sagekit/doctor.hpp>
#include <sagekit/shards.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <optional>

namespace sagekit::host {

namespace {

struct PlanArguments {
  SelectionArguments selection;
  std::string missing_from;
  bool steps = false, dot = false;
  std::size_t shards = 0, shard = 0;  ///< 0 = not asked for
};

void declare(Flags& flags, PlanArguments& arguments) {
  declare_selection(flags, arguments.selection);
  flags.value("--missing-from", "PLACE", arguments.missing_from, k_missing_from_text);
  flags.on("--steps", arguments.steps, "List the unique steps too");
  flags.on("--dot", arguments.dot, "The step graph for Graphviz, on stdout");
  flags.number("--shards", arguments.shards, "Divide the compilations over so many machines, evenly by cost");
  flags.number("--shard", arguments.shard, "Only this one of --shards, from 1");
}

/// Where build would have the source from: plan_text's view of it.
Result<std::filesystem::path> source_place(const Session& session, const Spec& spec, const Plan& plan,
                                           const ToolchainArguments& tools) {
  const auto store = session.store(tools.store);
  if (!store) return std::unexpected(store.error());
  BuildOptions build;
  build.store = *store;
  build.offline = tools.offline;
  build.child_environment = session.settings.child_environment;
  return look_for_source(spec, plan, build, *session.runner);
}

void show_plan(const Session& session, const Spec& spec, const Plan& plan, const ToolchainOptions& options,
               const PlanArguments& arguments) {
  // What build would fetch before it begins.
  const auto fetched = [&](const Cell& cell, const Lack& lack) -> std::optional<TreeNeed> {
    auto need = missing_tree(cell, lack, this_platform());
    return need && can_fetch(*need, options) ? need : std::nullopt;
  };
  session.console.result(plan_text(
      session.console, plan,
      {fetched, source_place(session, spec, plan, arguments.selection.tools), arguments.steps, terminal_width()}));
}

Error no_such_shard(const PlanArguments& arguments) {
  return {ErrorKind::usage, "CLI006",
          arguments.shards == 0 ? "--shard without --shards"
                                : fmt::format("there is no shard {} of {}", arguments.shard, arguments.shards),
          "", "for example: plan --shards 8 --shard 2"};
}

/// The steps of each shard: ids, or as a document.
void show_shards(const Session& session, const Plan& plan, const PlanArguments& arguments) {
  if (session.global.json) return session.console.document(shards_json(plan, arguments.shards, arguments.shard));
  const auto shards = parts_of(plan, arguments.shards);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (arguments.shard != 0 && arguments.shard != i + 1) continue;
    if (arguments.shard == 0)
      session.console.say(fmt::format("shard {}/{}: {}, about {:.0f} CPU seconds", i + 1, shards.size(),
                                      counted(shards[i].steps.size(), "step", "steps"), shards[i].cpu_seconds));
    for (const auto& id : shards[i].steps)
      session.console.result(arguments.shard == 0 ? fmt::format("{} {}\n", i + 1, id) : id + "\n");
  }
}

int run(Session& session, const PlanArguments& arguments) {
  if (session.global.json && arguments.dot)
    return report(session, {ErrorKind::usage, "CLI001", "--json and --dot both want stdout", "", "choose one"});
  if (arguments.shards > 0 && arguments.dot)
    return report(session, {ErrorKind::usage, "CLI001", "--shards and --dot both want stdout", "", "choose one"});
  auto plugin = session.plugin();
  if (!plugin) return report(session, plugin.error());
  const auto options = toolchain_options(session, arguments.selection.tools);
  if (!options) return report(session, options.error());
  Request request = make_request(arguments.selection, session);
  if (arguments.shard > arguments.shards) return report(session, no_such_shard(arguments));
  request.with_steps = arguments.steps || arguments.dot || arguments.shards > 0;
  if (arguments.selection.arches.empty() && !request.arches.empty())
    session.console.say(fmt::format("arch list from TORCH_CUDA_ARCH_LIST: {}", request.arches));
  if (!arguments.missing_from.empty()) {
    auto rest = only_missing(session, *plugin, request, *options, arguments.missing_from);
    if (!rest) return report(session, rest.error());
    request = std::move(*rest);
  }
  const auto here =
      plan_here(plugin->spec(), request, {plugin->path().string(), plugin->sha256()}, *options, *session.runner);
  if (!here) return report(session, here.error());
  const auto& plan = here->plan;
  show_diagnostics(session, plan);
  if (arguments.shards > 0)
    show_shards(session, plan, arguments);
  else if (session.global.json)
    session.console.document(plan_json(plan, arguments.steps));
  else if (arguments.dot)
    session.console.document(plan_dot(plan));
  else if (!request.only || !request.only->empty())  // else it was said that nothing is left
    show_plan(session, plugin->spec(), plan, *options, arguments);
  return 0;
}

}  // namespace

std::vector<Verb> plan_verbs() {
  return {make_verb<PlanArguments>({.name = "plan",
                                    .what = "What would be built: cells, excluded cells with reasons, steps, estimates",
                                    .examples = {"sagekit --plugin sage3 plan --profile sage3-all",
                                                 "sagekit --plugin sage2 plan --arch \"9.0;12.0\" --json --steps",
                                                 "sagekit --plugin sage2 plan --shards 8 --json"},
                                    .exits = {{0, "planned, also where cells cannot be built on this machine"},
                                              {4, "no cell matches the selection"}}},
                                   declare, run)};
}

}  // namespace sagekit::host
