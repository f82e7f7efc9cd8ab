#pragma once
// Compilers that stay what they were: an identity in a key is read once, and somebody may update a package meanwhile.

#include "support/file_stamp.hpp"

#include <sagekit/environment.hpp>
#include <sagekit/plan.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <vector>

namespace sagekit {

class ToolStamps {
 public:
  /// Looks at the programs of these cells' toolchains.
  explicit ToolStamps(const std::vector<const Cell*>& cells);

  /// BLD011 (failed): one of them is another file now, so nobody knows by which of them a result was made.
  Status unchanged() const;

 private:
  std::map<std::filesystem::path, std::optional<FileStamp>> m_stamps;
};

}  // namespace sagekit
