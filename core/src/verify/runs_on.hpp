#pragma once
// The table of wheel x GPU: what the package will do on each device, from its dispatch rows, the code in its modules
// and what was found wrong with them.

#include "verify/subject.hpp"

#include <sagekit/verify.hpp>

#include <optional>
#include <vector>

namespace sagekit {

/// A row for every GPU that core's data or the spec's dispatch knows, by capability. Where it is not known which
/// modules the package calls (no spec, or a source that it does not know) the modules' code alone decides; a wheel
/// without any GPU code then has no rows. `findings`: of all checks; no row is better than they allow.
std::vector<RunsOn> runs_on(const Subject& subject, const std::vector<Finding>& findings);

/// What the package calls on a GPU; nothing when it has no branch for it, or when that is not known. A spec without any
/// row has a package that asks for no particular device: every module is called on every GPU.
std::optional<DispatchSpec> dispatch_for(const Subject& subject, Capability gpu);

/// The GPUs that the table is about, but for those of the past.
std::vector<Capability> known_gpus(const Subject& subject);

}  // namespace sagekit
