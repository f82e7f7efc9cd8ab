#pragma once
// The page that GitHub Actions shows for a job: Markdown.

#include <sagekit/verify.hpp>

#include <string>
#include <vector>

namespace sagekit::host {

/// A table of the wheels and of what could not be judged, then each failed one with what is wrong with it and why.
/// Stays below the size that GitHub takes for a step (1 MiB).
std::string job_summary(const std::vector<WheelReport>& reports, const std::vector<Error>& errors);

}  // namespace sagekit::host
