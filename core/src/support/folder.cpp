#include "support/folder.hpp"

#include <algorithm>

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

}  // namespace sagekit
