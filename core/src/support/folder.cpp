#include "support/folder.hpp"

#include <algorithm>
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

}  // namespace sagekit
