#pragma once
// What stands in a folder.

#include <filesystem>
#include <system_error>
#include <vector>

namespace sagekit {

/// The paths in it, sorted; none of a folder that is not there or cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

/// Why this user may not list a folder or read a file; nothing for one that is not there. The effective user's rights
/// are asked, by doing it.
std::error_code cannot_read(const std::filesystem::path& path);

}  // namespace sagekit
