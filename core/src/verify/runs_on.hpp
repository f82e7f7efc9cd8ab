#pragma once
// The table of wheel x GPU: what the package will do on each device, from its dispatch rows and the code in its
// modules.

#include "verify/subject.hpp"

#include <sagekit/verify.hpp>

#include <vector>

namespace sagekit {

/// A row for every GPU that core's data or the spec's dispatch knows, by capability. Without a spec the modules' code
/// alone decides; a wheel without any GPU code then has no rows.
std::vector<RunsOn> runs_on(const Subject& subject);

}  // namespace sagekit
