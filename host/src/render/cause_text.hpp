#pragma once
// Why something failed, for people.

#include "console.hpp"

#include <sagekit/causes.hpp>

#include <string>

namespace sagekit::host {

/// The first cause in full, the others in a line each; without a cause the likeliest lines.
std::string explanation_text(const Console& console, const Explanation& explanation);

/// A cause in full: its line, why, what follows from it, what mends it.
std::string cause_text(const Console& console, const FoundCause& cause);

}  // namespace sagekit::host
