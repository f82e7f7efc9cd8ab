#pragma once
// The content-addressed store. Every file gets its name by a rename after it is whole, so any number of processes may
// share it and any of them may die at any moment; what is missing or damaged is made again.
//
//   objects/ab/abcd..   built files, named by their sha256, read-only
//   actions/ab/KEY/K2   what a step did: one record for each set of headers it was seen with
//   history/ab/KEY      what a command took when it last ran; KEY.parts what it was made from
//   sources shims stubs builds   finished folders, renamed into place whole
//   git work tmp        bare git caches; folders of running builds; scratch

#include "build/action_record.hpp"
#include "support/file.hpp"

#include <sagekit/error.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

class Store {
 public:
  /// Makes the folder. Errors: FIL002 when it cannot be written.
  static Result<Store> open(const std::filesystem::path& root);

  const std::filesystem::path& root() const { return m_root; }
  std::filesystem::path folder(std::string_view name) const { return m_root / name; }
  /// Scratch on the store's own file system.
  Result<TemporaryFolder> temporary() const { return TemporaryFolder::create(folder("tmp"), "s"); }

  /// Takes a file in; it becomes read-only and may be the same inode, so whoever writes it anew unlinks it first.
  Result<StoredObject> put(const std::filesystem::path& file) const;
  /// Is it there with its size? Content is checked by `place`.
  bool has(const StoredObject& object) const;
  /// Puts the object at a path, by hard link or copy. A missing or damaged object is STO001; damaged ones are removed.
  Status place(const StoredObject& object, const std::filesystem::path& at) const;

  /// Records under a key, readable ones only.
  std::vector<ActionRecord> records(const std::string& key) const;
  Status add_record(const std::string& key, const ActionRecord& record) const;
  std::optional<Measured> history(const std::string& key) const;
  void remember(const std::string& key, const Measured& measured) const;  ///< an estimate: failing is no error
  /// What the step was last made from, name and value, for a log line that says what differs; empty = not known.
  std::vector<std::pair<std::string, std::string>> parts(const std::string& key) const;
  void remember_parts(const std::string& key, const std::vector<std::pair<std::string, std::string>>& parts) const;

 private:
  explicit Store(std::filesystem::path root) : m_root(std::move(root)) {}
  std::filesystem::path object_path(const std::string& sha256) const;
  std::filesystem::path m_root;
};

/// Hard link, else copy; replaces what is there.
Status link_or_copy(const std::filesystem::path& file, const std::filesystem::path& at);
/// Copies the tree below `from`; files become writable by their owner.
Status copy_tree(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace sagekit
