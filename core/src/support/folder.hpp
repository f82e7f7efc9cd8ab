#pragma once
// What stands in a folder.

#include <filesystem>
#include <vector>

namespace sagekit {

/// The paths in it, sorted; none of a folder that is not there or cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

}  // namespace sagekit
