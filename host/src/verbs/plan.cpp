#include "provisioning.hpp"
#include "render/table.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/doctor.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

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

std::string arches_of(const Cell& cell) {
  std::vector<std::string> names;
  for (const auto& arch : cell.arches) names.push_back(to_string(arch));
  return fmt::format("{}", fmt::join(names, " "));
}

// One sentence for all cells that it is about.
void remember(std::vector<std::pair<std::string, std::vector<std::string>>>& remarks, const std::string& remark,
              const std::string& cell) {
  const auto known = std::ranges::find(remarks, remark, [](const auto& entry) { return entry.first; });
  if (known == remarks.end())
    remarks.push_back({remark, {cell}});
  else
    known->second.push_back(cell);
}

/// What build would fetch before it begins.
bool is_fetched(const Cell& cell, const ToolchainOptions& options) {
  const auto need = missing_tree(cell, this_platform());
  return need && can_fetch(*need, options);
}

std::string here(const Console& console, const Cell& cell, const ToolchainOptions& options) {
  if (cell.buildable) return console.green("yes");
  return is_fetched(cell, options) ? console.yellow("fetched") : console.yellow("no");
}

void show_plan(const Session& session, const Plan& plan, const ToolchainOptions& options, bool steps) {
  const Console& console = session.console;
  std::string text = fmt::format("{} from {} at {}{}\n\n", console.bold(plan.plugin_name), plan.source_url,
                                 plan.commit.substr(0, 7), plan.subdir.empty() ? "" : " (" + plan.subdir + ")");
  Rows rows{{"cell", "arches", "here", "wheel"}};
  for (const auto& cell : plan.cells)
    rows.push_back({cell.id, arches_of(cell), here(console, cell, options), cell.wheel});
  if (!plan.cells.empty()) text += table(rows, "");
  std::vector<std::pair<std::string, std::vector<std::string>>> remarks;
  for (const auto& cell : plan.cells) {
    if (!cell.buildable)
      remember(
          remarks,
          (is_fetched(cell, options) ? "build fetches what is missing: " : "cannot be built here: ") + cell.why_not,
          cell.id);
    for (const auto& note : cell.notes) remember(remarks, note, cell.id);
  }
  if (!remarks.empty()) text += "\n";
  for (const auto& [remark, cells] : remarks)
    text += fmt::format("{}: {}\n",
                        cells.size() == plan.cells.size() && cells.size() > 1 ? "all cells"
                        : cells.size() > 1 ? fmt::format("{} cells ({}, ...)", cells.size(), cells.front())
                                           : cells.front(),
                        remark);
  if (!plan.excluded.empty()) {
    text += "\nExcluded:\n";
    for (const auto& cell : plan.excluded)
      text += fmt::format("  {}\n    {}\n    {}\n", cell.id, cell.reason, console.dim(cell.source));
  }
  if (steps) {
    text += "\nSteps:\n";
    for (const auto& step : plan.steps) {
      std::vector<std::string> words;
      for (const auto& word : step.argv) words.push_back(shell_word(word));
      text += fmt::format("  {}\n    {}\n", console.bold(step.id), fmt::join(words, " "));
    }
  }
  text += fmt::format(
      "\n{} cell{}, {} excluded; {} steps, {} of them different; about {} of CPU time, up to {} in one step\n",
      plan.cells.size(), plan.cells.size() == 1 ? "" : "s", plan.excluded.size(), plan.step_uses, plan.unique_steps,
      human_seconds(plan.cpu_seconds), human_bytes(plan.peak_memory_bytes));
  console.result(text);
}

int run(Session& session, const PlanArguments& arguments) {
  auto plugin = session.plugin();
  if (!plugin) return report(session, plugin.error());
  const auto options = toolchain_options(session, arguments.selection.tools);
  if (!options) return report(session, options.error());
  Request request = make_request(arguments.selection, session.settings);
  request.with_steps = arguments.steps || arguments.dot;
  if (arguments.selection.arches.empty() && !request.arches.empty())
    session.console.say(fmt::format("arch list from TORCH_CUDA_ARCH_LIST: {}", request.arches));
  const auto here =
      plan_here(plugin->spec(), request, {plugin->path().string(), plugin->sha256()}, *options, *session.runner);
  if (!here) return report(session, here.error());
  const auto& plan = here->plan;
  if (session.global.json)
    session.console.result(plan_json(plan, arguments.steps));
  else if (arguments.dot)
    session.console.result(plan_dot(plan));
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
