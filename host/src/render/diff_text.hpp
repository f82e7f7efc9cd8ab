#pragma once
// What changed between two files, for people.

#include "console.hpp"

#include <sagekit/diff.hpp>

#include <cstddef>
#include <string>

namespace sagekit::host {

/// How much differs, then each file; of one file and kind the first lines.
std::string diff_text(const Console& console, const FileDiff& diff, std::size_t width);

}  // namespace sagekit::host
