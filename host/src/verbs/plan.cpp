#include "provisioning.hpp"
#include "render/plan_text.hpp"
#include "render/text.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/doctor.hpp>

#include <fmt/format.h>

#include <optional>

namespace sagekit::host {

namespace {

struct PlanArguments {
  SelectionArguments selection;
  bool steps = false, dot = false;
};

void declare(Flags& flags, PlanArguments& arguments) {
  declare_selection(flags, arguments.selection);
  flags.on("--steps", arguments.steps, "List the unique steps too");
  flags.on("--dot", arguments.dot, "The step graph for Graphviz, on stdout");
}

void show_plan(const Session& session, const Plan& plan, const ToolchainOptions& options, bool steps) {
  // What build would fetch before it begins.
  const auto fetched = [&](const Cell& cell, const Lack& lack) -> std::optional<TreeNeed> {
    auto need = missing_tree(cell, lack, this_platform());
    return need && can_fetch(*need, options) ? need : std::nullopt;
  };
  session.console.result(plan_text(session.console, plan, {fetched, steps, terminal_width()}));
}

int run(Session& session, const PlanArguments& arguments) {
  auto plugin = session.plugin();
  if (!plugin) return report(session, plugin.error());
  const auto options = toolchain_options(session, arguments.selection.tools);
  if (!options) return report(session, options.error());
  Request request = make_request(arguments.selection, session);
  request.with_steps = arguments.steps || arguments.dot;
  if (arguments.selection.arches.empty() && !request.arches.empty())
    session.console.say(fmt::format("arch list from TORCH_CUDA_ARCH_LIST: {}", request.arches));
  const auto here =
      plan_here(plugin->spec(), request, {plugin->path().string(), plugin->sha256()}, *options, *session.runner);
  if (!here) return report(session, here.error());
  const auto& plan = here->plan;
  show_diagnostics(session, plan);
  if (session.global.json)
    session.console.document(plan_json(plan, arguments.steps));
  else if (arguments.dot)
    session.console.document(plan_dot(plan));
  else
    show_plan(session, plan, *options, arguments.steps);
  return 0;
}

}  // namespace

std::vector<Verb> plan_verbs() {
  return {make_verb<PlanArguments>({.name = "plan",
                                    .what = "What would be built: cells, excluded cells with reasons, steps, estimates",
                                    .examples = {"sagekit --plugin sage3 plan --profile sage3-all",
                                                 "sagekit --plugin sage2 plan --arch \"9.0;12.0\" --json --steps"},
                                    .exits = {{0, "planned, also where cells cannot be built on this machine"},
                                              {4, "no cell matches the selection"}}},
                                   declare, run)};
}

}  // namespace sagekit::host
