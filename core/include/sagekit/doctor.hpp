#pragma once
// What a machine lacks for a plan: said (`diagnose`), or fetched as far as it can be (`make_ready`).

#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/plan.hpp>
#include <sagekit/provision.hpp>

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sagekit {

/// A plan, and the machine that it was made for.
struct PlannedMachine {
  Environment environment;
  Plan plan;
};

/// The plan for this machine as it is: find_toolchains, then make_plan.
SAGEKIT_API Result<PlannedMachine> plan_here(const Spec& spec, const Request& request, const PlanOrigin& origin,
                                             const ToolchainOptions& options, CommandRunner& runner);

/// The plan for this machine after what it lacks was fetched. What no source has is told to the observer and left
/// lacking: the cell says so and run_build ends with its reason. What the plan's cells use and was fetched before there
/// was this lock is pinned in it. `before_fetching` may refuse the plan before the first byte is fetched. Errors: its
/// own, those of plan_here and of provision().
SAGEKIT_API Result<PlannedMachine> make_ready(const Spec& spec, const Request& request, const PlanOrigin& origin,
                                              const ToolchainOptions& options, CommandRunner& runner,
                                              ProvisionObserver& observer, std::stop_token stop = {},
                                              const std::function<Status(const Plan&)>& before_fetching = {});

/// What make_ready would refuse of that plan before it asks anyone: for who fetches and pins nothing. Errors: those of
/// `before_fetching` and of check_fetch.
SAGEKIT_API Status check_ready(const PlannedMachine& machine, const ToolchainOptions& options,
                               const std::function<Status(const Plan&)>& before_fetching = {});

/// The tree that would mend a lack of the cell; empty when something else would. `own_platform`: where nvcc would run,
/// Environment::platform.
SAGEKIT_API std::optional<TreeNeed> missing_tree(const Cell& cell, const Lack& lack, const std::string& own_platform);

enum class PartState {
  here,
  fetchable,  ///< not here, and make_ready fetches it
  lacking,
};

enum class PartKind { platform, nvcc, host_compiler, torch, python_headers, source, store };

/// One of the tools that a cell is built with; or the source and the store, which the host looks at (build.hpp).
struct ToolchainPart {
  PartKind kind = PartKind::nvcc;
  PartState state = PartState::here;
  std::string what;   ///< "nvcc 13.0"
  std::string found;  ///< what and where, or why it is not here
  std::string mend;   ///< the command, or what to do; "" = nothing mends it, or nothing need be
};

struct CellDiagnosis {
  std::string cell;
  std::vector<ToolchainPart> parts;
  std::vector<std::string> notes;  ///< Cell::notes
};

struct Diagnosis {
  std::vector<CellDiagnosis> cells;
  std::vector<Companion> companions;  ///< the spec's: needed beside the wheel, and when
  SAGEKIT_API bool lacking() const;   ///< a part that make_ready would not fetch
};

/// Every part of every cell, also those after the first that is lacking. Pure, but for the store's folder of
/// toolchains, and the lock that is read when `options.provision.locked`.
SAGEKIT_API Diagnosis diagnose(const Spec& spec, const PlannedMachine& machine, const ToolchainOptions& options);

/// {"schema":"sagekit.doctor/1","cells":[...],"companions":[...]}
SAGEKIT_API std::string diagnosis_json(const Diagnosis& diagnosis);

}  // namespace sagekit
