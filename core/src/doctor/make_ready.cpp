#include "support/try.hpp"
#include "toolchain/narrowed.hpp"

#include <sagekit/doctor.hpp>

#include <algorithm>
#include <utility>

namespace sagekit {

namespace {

/// What the plan's cells lack that could be fetched, each tree once. Of a cell that lacks something else too nothing:
/// it would be fetched in vain.
std::vector<TreeNeed> missing_trees(const PlannedMachine& machine, const ToolchainOptions& options) {
  std::vector<TreeNeed> needs;
  if (options.provision.sources.empty()) return needs;
  for (const auto& cell : machine.plan.cells) {
    std::vector<TreeNeed> wanted;
    for (const auto& lack : cell.lacks)
      if (auto need = missing_tree(cell, lack, machine.environment.platform);
          need && only_on_torch_index(*need, options.provision.usual_index).empty())
        wanted.push_back(std::move(*need));
    if (wanted.size() < cell.lacks.size()) continue;
    for (auto& need : wanted)
      if (std::ranges::find(needs, need) == needs.end()) needs.push_back(std::move(need));
  }
  return needs;
}

bool is_fetched(ToolSource source) { return source == ToolSource::wheels || source == ToolSource::redist; }

/// The trees of the store that the plan's cells are built with, each once.
std::vector<TreeNeed> used_trees(const PlannedMachine& machine) {
  std::vector<TreeNeed> used;
  const auto add = [&](ToolSource source, TreeNeed need) {
    if (is_fetched(source) && std::ranges::find(used, need) == used.end()) used.push_back(std::move(need));
  };
  for (const auto& cell : machine.plan.cells) {
    if (!cell.buildable || cell.toolchain == nullptr) continue;
    add(cell.toolchain->nvcc.source, {TreeKind::nvcc, cell.cuda, "", machine.environment.platform});
    add(cell.toolchain->torch.source, {TreeKind::torch, cell.cuda, cell.torch, cell.platform});
  }
  return used;
}

/// They are pinned, whatever fetched them, and not fetched again.
ProvisionOptions for_used(ProvisionOptions options) {
  options.offline = true;
  options.sources = {ToolSource::wheels, ToolSource::redist};
  return options;
}

/// A tree that was made of other files than the lock says is an error, not a tool that a cell lacks.
Status check_pins(const PlannedMachine& machine, const ProvisionOptions& options) {
  for (const auto& cell : machine.plan.cells) {
    if (std::ranges::find(cell.lacks, LackKind::given_tool, &Lack::kind) == cell.lacks.end()) continue;
    for (const auto& need : {TreeNeed{TreeKind::nvcc, cell.cuda, "", machine.environment.platform},
                             TreeNeed{TreeKind::torch, cell.cuda, cell.torch, cell.platform}})
      if (auto checked = check_fetch(need, options); !checked && checked.error().code == "PRV006") return checked;
  }
  return {};
}

/// A torch that the index was asked for and does not have: what its answer advises, not the same fetch once more.
void advise(PlannedMachine& machine, const TreeNeed& refused, const std::string& hint) {
  for (auto& cell : machine.plan.cells)
    for (auto& lack : cell.lacks)
      if (lack.error.code == "TCH005" && missing_tree(cell, lack, machine.environment.platform) == refused)
        lack.error.hint = mend_there(machine.environment, hint);
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

Status check_ready(const PlannedMachine& machine, const ToolchainOptions& options,
                   const std::function<Status(const Plan&)>& before_fetching) {
  TRY(check_pins(machine, options.provision));
  const auto missing = missing_trees(machine, options);
  if (!missing.empty() && before_fetching) TRY(before_fetching(machine.plan));
  for (const auto& need : missing) TRY(check_fetch(need, options.provision));
  for (const auto& need : used_trees(machine)) TRY(check_fetch(need, for_used(options.provision)));
  return {};
}

Result<PlannedMachine> make_ready(const Spec& spec, const Request& request, const PlanOrigin& origin,
                                  const ToolchainOptions& options, CommandRunner& runner, ProvisionObserver& observer,
                                  std::stop_token stop, const std::function<Status(const Plan&)>& before_fetching) {
  // When a tree is there, the cell may lack the next: which host compilers do is known of an nvcc that is here.
  std::vector<TreeNeed> tried;
  std::vector<std::pair<TreeNeed, std::string>> refused;
  while (true) {
    TRY_ASSIGN(auto machine, plan_here(spec, request, origin, options, runner));
    TRY(check_pins(machine, options.provision));
    bool changed = false;
    for (const auto& need : missing_trees(machine, options)) {
      if (std::ranges::find(tried, need) != tried.end()) continue;
      if (tried.empty() && before_fetching) TRY(before_fetching(machine.plan));
      tried.push_back(need);
      const auto provisioned = provision(need, options.provision, observer, stop);
      changed = changed || provisioned;
      if (provisioned) continue;
      const auto& error = provisioned.error();
      if (error.code != "PRV002" && error.code != "PRV010") return std::unexpected(error);
      observer.on_message(error.message);
      if (error.code == "PRV002" && need.kind == TreeKind::torch) refused.emplace_back(need, error.hint);
    }
    if (changed) continue;
    for (const auto& [need, hint] : refused) advise(machine, need, hint);
    for (const auto& need : used_trees(machine)) TRY(provision(need, for_used(options.provision), observer));
    return machine;
  }
}

}  // namespace sagekit
