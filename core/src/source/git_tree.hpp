#pragma once
// Git's ids of files and trees, computed natively: they check the content of any copy of a source, git or not.
// Source: gitformat-pack(5) and git-hash-object(1); SHA-1 repositories.

#include <sagekit/error.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// One file of a tree. Modes as git writes them: 100644, 100755, 120000 (symbolic link), 160000 (submodule).
struct TreeEntry {
  std::string mode;
  std::string path;  ///< from the root, `/` between folders
  std::string sha1;  ///< of the blob (of a submodule its commit), 40 hex digits

  bool operator==(const TreeEntry&) const = default;
};

/// The file in a pruned copy of a tree that lists the whole tree, one "mode sha1 path" a line.
inline constexpr std::string_view k_tree_listing = ".sagekit-tree";

std::string blob_id(std::string_view bytes);
/// The id of the tree that holds exactly these files.
std::string tree_id(std::vector<TreeEntry> entries);

/// All files below `folder`, sorted; `.git` at any depth and the listing file at the top are passed over, as are empty
/// folders. Errors: SRC006 (usage) for what cannot be read or has no place in a tree (devices, pipes).
Result<std::vector<TreeEntry>> list_folder(const std::filesystem::path& folder);
/// The entry of one file or symbolic link.
Result<TreeEntry> read_entry(const std::filesystem::path& folder, const std::string& path);

/// Lines "mode sha1 path". SRC006 for anything else, and for paths that leave the tree.
Result<std::vector<TreeEntry>> parse_tree_listing(std::string_view text);
/// The output of `git ls-tree -r -z`.
Result<std::vector<TreeEntry>> parse_ls_tree(std::string_view text);
std::string tree_listing(const std::vector<TreeEntry>& entries);

}  // namespace sagekit
