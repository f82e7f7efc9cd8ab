#pragma once
// What `doctor` found in an environment, for people.

#include "console.hpp"

#include <sagekit/checkup.hpp>

#include <string>

namespace sagekit::host {

/// A line for each row; of what is not good also why it matters and what mends it.
std::string checkup_text(const Console& console, const Checkup& checkup);

}  // namespace sagekit::host
