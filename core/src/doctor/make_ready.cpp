#include "support/try.hpp"

#include <sagekit/doctor.hpp>

#include <algorithm>

namespace sagekit {

namespace {

/// What the plan's cells lack that could be fetched, each tree once. Of a cell that lacks something else too nothing:
/// it would be fetched in vain.
std::vector<TreeNeed> missing_trees(const PlannedMachine& machine) {
  std::vector<TreeNeed> needs;
  for (const auto& cell : machine.plan.cells) {
    std::vector<TreeNeed> wanted;
    for (const auto& lack : cell.lacks)
      if (auto need = missing_tree(cell, lack, machine.environment.platform)) wanted.push_back(std::move(*need));
    if (wanted.size() < cell.lacks.size()) continue;
    for (auto& need : wanted)
      if (std::ranges::find(needs, need) == needs.end()) needs.push_back(std::move(need));
  }
  return needs;
}

bool is_fetched(ToolSource source) { return source == ToolSource::wheels || source == ToolSource::redist; }

/// The trees of the store that the plan's cells are built with are pinned, whatever fetched them.
Status pin_used(const PlannedMachine& machine, ProvisionOptions options, ProvisionObserver& observer) {
  options.offline = true;
  options.sources = {ToolSource::wheels, ToolSource::redist};
  for (const auto& cell : machine.plan.cells) {
    if (!cell.buildable) continue;
    if (is_fetched(cell.toolchain->nvcc.source))
      TRY(provision({TreeKind::nvcc, cell.cuda, "", machine.environment.platform}, options, observer));
    if (is_fetched(cell.toolchain->torch.source))
      TRY(provision({TreeKind::torch, cell.cuda, cell.torch, cell.platform}, options, observer));
  }
  return {};
}

}  // namespace

std::optional<TreeNeed> missing_tree(const Cell& cell, const Lack& lack, const std::string& own_platform) {
  if (lack.kind == LackKind::nvcc) return TreeNeed{TreeKind::nvcc, cell.cuda, "", own_platform};
  if (lack.kind == LackKind::torch) return TreeNeed{TreeKind::torch, cell.cuda, cell.torch, cell.platform};
  return std::nullopt;
}

Result<PlannedMachine> plan_here(const Spec& spec, const Request& request, const PlanOrigin& origin,
                                 const ToolchainOptions& options, CommandRunner& runner) {
  TRY_ASSIGN(auto environment, find_toolchains(options, runner));
  TRY_ASSIGN(auto plan, make_plan(spec, request, environment, origin));
  return PlannedMachine{std::move(environment), std::move(plan)};
}

Result<PlannedMachine> make_ready(const Spec& spec, const Request& request, const PlanOrigin& origin,
                                  const ToolchainOptions& options, CommandRunner& runner, ProvisionObserver& observer,
                                  std::stop_token stop, const std::function<Status(const Plan&)>& before_fetching) {
  // When a tree is there, the cell may lack the next: which host compilers do is known of an nvcc that is here.
  std::vector<TreeNeed> tried;
  while (true) {
    TRY_ASSIGN(auto machine, plan_here(spec, request, origin, options, runner));
    bool changed = false;
    for (const auto& need : missing_trees(machine)) {
      if (options.provision.sources.empty() || std::ranges::find(tried, need) != tried.end()) continue;
      if (tried.empty() && before_fetching) TRY(before_fetching(machine.plan));
      tried.push_back(need);
      const auto provisioned = provision(need, options.provision, observer, stop);
      changed = changed || provisioned;
      if (provisioned) continue;
      const auto& error = provisioned.error();
      if (error.code != "PRV002" && error.code != "PRV010") return std::unexpected(error);
      observer.on_message(error.message);
    }
    if (changed) continue;
    TRY(pin_used(machine, options.provision, observer));
    return machine;
  }
}

}  // namespace sagekit
