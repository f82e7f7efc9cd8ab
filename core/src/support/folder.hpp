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

/// The folder, or the nearest above that is there; `error` where that cannot be told.
std::filesystem::path nearest_there(std::filesystem::path folder, std::error_code& error);
/// Why this user may not make files in the folder, or the folder itself where it is not there; nothing where that
/// works. Nothing is made.
std::error_code cannot_write(const std::filesystem::path& folder);

}  // namespace sagekit
