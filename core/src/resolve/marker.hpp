#pragma once
// Environment markers (PEP 508), as far as a target machine is known.

#include <sagekit/resolve.hpp>

#include <optional>
#include <string_view>

namespace sagekit {

/// Does a line of Requires-Dist hold for the machine? A line for an extra does not. Nothing: a word of its marker is
/// not known of the machine, or its marker cannot be read.
std::optional<bool> marker_holds(std::string_view requirement, const Target& target);

}  // namespace sagekit
