#pragma once
// What is in a file, for people: what it is and runs on, then its modules.

#include "console.hpp"

#include <sagekit/inspect.hpp>

#include <cstddef>
#include <string>

namespace sagekit::host {

std::string inspect_text(const Console& console, const FileFacts& file, const InspectOptions& options,
                         std::size_t width);

}  // namespace sagekit::host
