#pragma once
// Provisioned trees on disk. A tree is a folder <store>/<id> with its files, tree.toml (what it was made of) and
// SHA256SUMS (every other file, as sha256sum -c reads it). It appears under its name by one rename, whole; what is
// being made lies in <store>/.partial.

#include "support/file.hpp"
#include "toolchain/lock.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <string>

namespace sagekit {

/// A tree in the making. What a stopped process left of the same need is taken up: a file that is there and has its
/// hash is not fetched again. Not thread-safe.
class TreeStage {
 public:
  /// Waits for another process that makes the same tree; `waiting` is called once before it does.
  static Result<TreeStage> open(const std::filesystem::path& store, const TreeNeed& need,
                                const std::function<void()>& waiting);

  /// Is the file there, with that content? (sha256 in hex)
  bool has(const std::string& path, const std::string& sha256);
  /// `path` is relative, checked: never outside, never through a link. FIL002 with kind machine when the disk is full.
  Status add(const std::string& path, std::string_view bytes, bool executable);
  Status link(const std::string& path, const std::string& target);  ///< a symbolic link to a name in the same folder
  const std::filesystem::path& folder() const { return m_folder; }
  /// For whole downloads; emptied when the tree is published.
  std::filesystem::path scratch() const { return m_base / "download"; }

  /// Writes SHA256SUMS and tree.toml, removes what a stopped process left and nobody asked for, gives it its name.
  /// `pins.id` is filled in; another one than `expected` (unless that is empty) is PRV006, and nothing is published.
  Result<Tree> publish(const std::filesystem::path& store, LockedTree& pins, const std::string& expected);

 private:
  TreeStage(FileLock lock, std::filesystem::path base)
      : m_lock(std::move(lock)), m_base(std::move(base)), m_folder(m_base / "tree") {}
  FileLock m_lock;
  std::filesystem::path m_base, m_folder;
  std::map<std::string, std::string> m_sums;  ///< path -> sha256
};

/// The tree of that folder; an error when it is none. Does not look at its files.
Result<Tree> read_tree(const std::filesystem::path& folder);
/// "torch/include is missing", "2 of 3 files in bin are missing": a folder or the list that the tree lost, or a folder
/// that holds fewer files than it was published with; "" = none is seen. A look at the folders, no file is read:
/// verify_tree does that.
std::string lost_part(const Tree& tree);
/// What it was made of.
Result<LockedTree> read_pins(const std::filesystem::path& folder);

}  // namespace sagekit
