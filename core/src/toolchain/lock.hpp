#pragma once
// sagekit.lock: what provisioned trees were made of. TOML, written sorted, so that a diff shows what changed.

#include <sagekit/error.hpp>
#include <sagekit/provision.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// A file that a tree was made of: a wheel of an index, or an archive of a manifest.
struct LockedFile {
  std::string project, version;
  std::string name;  ///< file name; of an archive its path below the manifest's folder
  std::uint64_t size_bytes = 0;
  std::string sha256;                           ///< that the index or manifest gives; "" = it gave none
  std::string record_sha256, directory_sha256;  ///< of a wheel's RECORD and central directory; "" for archives
  bool operator==(const LockedFile&) const = default;
};

/// What a library exports, by the hash of its export_text().
struct LockedExports {
  std::string library, sha256;
  bool operator==(const LockedExports&) const = default;
};

struct LockedTree {
  TreeKind kind = TreeKind::nvcc;
  std::string version, cuda, platform;
  ToolSource source = ToolSource::wheels;
  std::string id;  ///< of the tree: ends in a hash over all of its files
  std::vector<LockedFile> files;
  std::vector<LockedExports> exports;
  bool operator==(const LockedTree&) const = default;
};

struct Lock {
  std::vector<LockedTree> trees;

  /// The entry for a need; null when there is none.
  const LockedTree* find(const TreeNeed& need) const;
  /// Puts the tree in, in place of the one for the same need.
  void set(LockedTree tree);
};

bool answers(const LockedTree& tree, const TreeNeed& need);
TreeNeed need_of(const LockedTree& tree);
TreeNeed need_of(const Tree& tree);

std::string_view to_string(TreeKind kind);  ///< "nvcc", "torch"

std::string lock_text(const Lock& lock);
/// PRV003 (usage) with file and line when the text is no lock, or one of a later sagekit.
/// `kept`: where what was read is kept (support/kept_toml.hpp); "" keeps nothing.
Result<Lock> parse_lock(std::string_view text, std::string_view origin, const std::filesystem::path& kept = {});
/// A file that is not there is an empty lock. A matrix asks once for each tree that it needs, hence `kept`.
Result<Lock> read_lock(const std::filesystem::path& path, const std::filesystem::path& kept);

}  // namespace sagekit
