#pragma once
// The content-addressed store (docs/store.md). Every file gets its name by a rename after it is whole, so any number of
// processes may share it and any of them may die at any moment; what is missing or damaged is made again.
//
//   objects/ab/SHA.zst  built files, named by the sha256 of their content, read-only; modules as they are:
//   objects/ab/SHA actions/ab/KEY/K2   what a step did: one record for each set of headers it was seen with; its time
//   is its last use history/ab/KEY      what a command took when it last ran; KEY.parts what it was made from sources
//   shims stubs builds   finished folders, renamed into place whole runs/TIME@MARK      what each run made
//   work/NAME@MARK tmp/s@MARK-.. folders of running processes (run_owner.hpp), removed when these are dead
//   git claims          bare git caches; locks of steps that run

#include "store/action_record.hpp"
#include "store/run_journal.hpp"
#include "store/second_level.hpp"
#include "support/file.hpp"

#include <sagekit/error.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct StoreOptions {
  Say say = {};                                           ///< what was found damaged, what a second level refused
  std::vector<std::shared_ptr<SecondLevel>> levels = {};  ///< asked in this order for what is not here
  std::shared_ptr<SecondLevel> push = {};                 ///< gets what is made; null = nobody
  std::shared_ptr<RunJournal> journal = {};               ///< null = none
  bool learns = true;  ///< false: what steps take is not what it seems (a launcher's server)
};

class Store {
 public:
  /// Makes the folder. Errors: FIL002 when it cannot be written.
  static Result<Store> open(const std::filesystem::path& root, StoreOptions options = {});
  /// Writes nothing, not even folders: what cannot be found is not there.
  static Store look_into(const std::filesystem::path& root, Say say = {});

  const std::filesystem::path& root() const { return m_root; }
  std::filesystem::path folder(std::string_view name) const { return m_root / name; }
  /// Scratch on the store's own file system.
  Result<TemporaryFolder> temporary() const;

  /// Takes a file in.
  Result<StoredObject> put(const std::filesystem::path& file) const;
  /// The same with bytes; `plain`: they are kept as they are, for others to link to.
  Result<StoredObject> put_bytes(std::string_view bytes, bool plain = false) const;
  /// Is it here or on another level? Content is checked by `place`; one that was cut short is
  /// removed here, and that is said.
  bool has(const StoredObject& object) const;
  bool has_here(const StoredObject& object) const;
  /// The object's bytes, hashed; from another level it is kept here. A missing or damaged object is STO001; damaged
  /// ones are removed, and that is said.
  Result<std::string> content(const StoredObject& object) const;
  /// Puts it at a path, read-only; it may be the same inode, so whoever writes it anew unlinks it first. STO001 as
  /// above.
  Status place(const StoredObject& object, const std::filesystem::path& at) const;

  /// Records under a key that are here, readable ones only, the last used first.
  std::vector<ActionRecord> records(const std::string& key) const;
  /// The first that `fits`: of those here, then of the other levels; it counts as used now. One of another level is
  /// kept here.
  using Fits = std::function<bool(const ActionRecord&)>;
  std::optional<ActionRecord> find(const std::string& key, const Fits& fits) const;
  Status add_record(const std::string& key, const ActionRecord& record) const;
  /// One process at a time makes what a key names: the others wait, then find it. Nothing when locks do not work here
  /// or `stop` was requested: then it may be made twice, which costs time only. `waited`: another process had it.
  std::optional<FileLock> claim(const std::string& key, const std::stop_token& stop, bool& waited) const;

  std::optional<Measured> history(const std::string& key) const;
  void remember(const std::string& key, const Measured& measured) const;  ///< an estimate: failing is no error
  /// What the step was last made from, name and value, for a log line that says what differs; empty = not known.
  std::vector<std::pair<std::string, std::string>> parts(const std::string& key) const;
  void remember_parts(const std::string& key, const std::vector<std::pair<std::string, std::string>>& parts) const;

 private:
  Store(std::filesystem::path root, StoreOptions options) : m_root(std::move(root)), m_options(std::move(options)) {}
  std::filesystem::path object_path(const std::string& sha256) const;
  Result<std::filesystem::path> keep_record(const std::string& key, const ActionRecord& record) const;
  std::optional<std::string> content_here(const StoredObject& object) const;
  void discard(const std::filesystem::path& object) const;
  void say(const std::string& text) const;

  std::filesystem::path m_root;
  StoreOptions m_options;
};

/// Hard link, else copy; replaces what is there.
Status link_or_copy(const std::filesystem::path& file, const std::filesystem::path& at);
/// Copies the tree below `from`; files become writable by their owner.
Status copy_tree(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace sagekit
