#pragma once
// A report as the JSON that `verify --json` has for each wheel, and back.

#include "support/json.hpp"

#include <sagekit/verify.hpp>

#include <optional>

namespace sagekit {

/// `all`: with the checks that passed.
Json report_json(const WheelReport& report, bool all);

/// Of report_json(report, true). Nothing when it is not that; WheelReport::waivers, which only a policy file has, are
/// not in it.
std::optional<WheelReport> read_report(const Json& json);

}  // namespace sagekit
