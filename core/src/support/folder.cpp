#include "support/folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

namespace sagekit {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    found.push_back(at->path());
  std::ranges::sort(found);
  return found;
}

std::error_code cannot_read(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    fs::directory_iterator(path, error);
  else if (!error && !std::ifstream(path))
    error = std::make_error_code(std::errc::permission_denied);
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ? std::error_code()
                                                                                              : error;
}

fs::path nearest_there(fs::path folder, std::error_code& error) {
  while (!fs::exists(fs::symlink_status(folder, error)) && folder.has_relative_path()) {
    if (error && error != std::errc::no_such_file_or_directory) return folder;
    folder = folder.parent_path();
  }
  error.clear();
  return folder;
}

std::error_code cannot_write(const fs::path& folder) {
  std::error_code error;
  auto whole = fs::absolute(folder, error);
  if (error) return error;
  const auto there = nearest_there(std::move(whole), error);
  if (error) return error;
  if (!fs::is_directory(there, error)) return error ? error : std::make_error_code(std::errc::not_a_directory);
  if (::faccessat(AT_FDCWD, there.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
  return {errno, std::generic_category()};
}

}  // namespace sagekit
