#pragma once
// A wheel's report for people; shared by build, package and verify.

#include "console.hpp"

#include <sagekit/verify.hpp>

#include <string>

namespace sagekit::host {

/// Findings that are not a pass (all with `all`), worst first, the "runs on" table, and last one line with the verdict.
std::string wheel_report_text(const Console& console, const WheelReport& report, bool all);

}  // namespace sagekit::host
