#pragma once
// All that the cells of one torch, CUDA and choice have in common, worked out once: arches, modules, defects, names.

#include "plan/arches.hpp"
#include "plan/choice.hpp"
#include "plan/steps.hpp"
#include "plan/tools.hpp"

#include <sagekit/plan.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct PairPlan {
  std::string id_suffix, arch_set;  ///< "-sm80-sm90a", "sm80.sm90a"; "" = the default set
  std::vector<ArchRequest> arches;  ///< normal form
  std::vector<ModulePart> parts;    ///< modules that are built, in the spec's order
  ToolNeeds needs;                  ///< of all modules
  std::vector<std::string> notes;
  std::string excluded, source;  ///< not empty: these cells cannot be built, and why
  std::string distribution, version, build_tag;
  std::vector<std::string> requires_dist;
};

/// Errors: a naming template that does not expand (usage, NAM...), PLN014 (usage) a requirement that is none.
/// `torch_min`: Cell::torch_min.
Result<PairPlan> plan_pair(const Spec& spec, const Choice& choice, std::string_view torch, std::string_view torch_min,
                           std::string_view cuda, StepTable& steps);

}  // namespace sagekit
