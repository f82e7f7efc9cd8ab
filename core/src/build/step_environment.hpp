#pragma once
// The environment of every step: the same on every machine as far as results depend on it.

#include "build/scheduler.hpp"

#include <sagekit/error.hpp>
#include <sagekit/plan.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace sagekit {

/// Seconds since 1970 of an RFC 3339 time in UTC, "2026-01-17T17:43:28Z". BLD007 (usage) for anything else.
Result<std::string> source_date_epoch(const std::string& date);

/// `base` without the variables that change what compilers do; PATH begins with the folders of the cells' host
/// compilers.
std::map<std::string, std::string> step_environment(std::map<std::string, std::string> base,
                                                    const std::vector<const Cell*>& cells,
                                                    const std::filesystem::path& scratch, const std::string& epoch,
                                                    const SchedulerLimits& limits);

}  // namespace sagekit
