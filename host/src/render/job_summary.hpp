#pragma once
// The page that GitHub Actions shows for a job: Markdown.

#include <sagekit/verify.hpp>

#include <string>
#include <vector>

namespace sagekit::host {

/// A table of the wheels, then each failed one with what is wrong with it and why. Stays below the size that GitHub
/// takes for a step (1 MiB).
std::string job_summary(const std::vector<WheelReport>& reports);

}  // namespace sagekit::host
