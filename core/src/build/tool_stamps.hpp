#pragma once
// Compilers that stay what they were: an identity in a key is read once, and somebody may update a package meanwhile.

#include <sagekit/environment.hpp>
#include <sagekit/plan.hpp>

#include <filesystem>
#include <map>
#include <tuple>
#include <vector>

namespace sagekit {

class ToolStamps {
 public:
  /// Looks at the programs of these cells' toolchains.
  explicit ToolStamps(const std::vector<const Cell*>& cells);

  /// BLD011 (failed): one of them is another file now, so nobody knows by which of them a result was made.
  Status unchanged() const;

 private:
  using Stamp = std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t>;  ///< inode, size, mtime
  static Stamp stamp_of(const std::filesystem::path& file);
  std::map<std::filesystem::path, Stamp> m_stamps;
};

}  // namespace sagekit
