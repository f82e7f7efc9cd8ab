#pragma once
// What failed in a build, for people: a step once, however many wheels wanted it.

#include "console.hpp"

#include <sagekit/build.hpp>
#include <sagekit/build_report.hpp>

namespace sagekit::host {

/// Each step's cause and what mends it, then how to run it by hand; of several steps a table at the end, with the first
/// cause of each.
void show_failed_steps(const Console& console, const Build& build, const StepCauses& causes);

}  // namespace sagekit::host
