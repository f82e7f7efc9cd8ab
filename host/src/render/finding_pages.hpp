#pragma once
// What a code means, for people.

#include "console.hpp"

#include <sagekit/finding.hpp>

#include <string>
#include <vector>

namespace sagekit::host {

/// One code in full, or a line for each of several.
std::string finding_pages_text(const Console& console, const std::vector<FindingPage>& pages);

}  // namespace sagekit::host
