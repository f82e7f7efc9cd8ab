#pragma once
// The environment of every step: the same on every machine as far as results depend on it.

#include "build/scheduler.hpp"

#include <sagekit/error.hpp>
#include <sagekit/toolchain.hpp>

#include <filesystem>
#include <map>
#include <string>

namespace sagekit {

/// Seconds since 1970 of an RFC 3339 time in UTC, "2026-01-17T17:43:28Z". BLD007 (usage) for anything else.
Result<std::string> source_date_epoch(const std::string& date);

/// `base` without the variables that change what compilers do; PATH begins with the host compilers' folders.
std::map<std::string, std::string> step_environment(std::map<std::string, std::string> base,
                                                    const std::map<std::string, Toolchain>& toolchains,
                                                    const std::filesystem::path& scratch, const std::string& epoch,
                                                    const SchedulerLimits& limits);

}  // namespace sagekit
