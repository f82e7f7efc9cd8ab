#include "store/action_record.hpp"
#include "store/housekeeping.hpp"
#include "store/store_files.hpp"
#include "support/file.hpp"
#include "support/folder.hpp"
#include "support/try.hpp"

#include <sagekit/cache.hpp>

#include <algorithm>
#include <chrono>
#include <unordered_map>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

using FileTime = fs::file_time_type;

struct Candidate {
  FileTime used;
  fs::path path;
  std::vector<std::string> objects;  ///< of a record; a folder has none
  bool is_record = false;
};

class Trim {
 public:
  Trim(const fs::path& store, const TrimOptions& options) : m_store(store), m_options(options) {}

  Result<Trimmed> run() {
    // First: what a record that cannot be read names would look like an object that none names.
    TRY(read_records());
    each_file(m_store, [&](const fs::path& file) { m_use.add(file); });
    m_result.bytes_before = m_use.bytes();
    for (const auto& left : abandoned(m_store)) remove_folder(left);
    remove_orphans();
    if (!in_use(m_store))
      for (const auto* name : {"builds", "sources"})
        for (const auto& folder : entries_of(m_store / name)) {
          std::error_code error;
          m_candidates.push_back({fs::last_write_time(folder, error), folder, {}, false});
        }
    std::ranges::sort(m_candidates, [](const Candidate& a, const Candidate& b) {
      return std::pair(a.used, a.path) < std::pair(b.used, b.path);
    });
    for (const auto& candidate : m_candidates)
      if (too_old(candidate.used) || too_large()) remove(candidate);
    if (m_options.older_than_seconds) remove_learned();
    m_result.bytes_after = m_use.bytes();
    for (const auto* name : {"toolchains", "git"})
      each_file(m_store / name, [&](const fs::path& file) {
        std::error_code error;
        m_result.kept_bytes += fs::is_symlink(file, error) ? 0 : fs::file_size(file, error);
      });
    return m_result;
  }

 private:
  bool too_old(FileTime used) const {
    return m_options.older_than_seconds &&
           std::chrono::duration<double>(m_now - used).count() > *m_options.older_than_seconds;
  }
  bool too_large() const { return m_options.max_bytes && m_use.bytes() > *m_options.max_bytes; }

  Status read_records() {
    TRY(each_file(m_store / "objects", [&](const fs::path& file) {
      if (auto name = object_name(file)) m_objects[*name].files.push_back(file);
    }));
    Status all_read;
    TRY(each_file(m_store / "actions", [&](const fs::path& file) {
      // Those of an older sagekit end in .json: nobody reads them any more.
      if (file.extension() != k_record_suffix && file.extension() != ".json") return;
      std::error_code error;
      Candidate candidate{fs::last_write_time(file, error), file, {}, true};
      if (const auto text = read_file(file)) {
        if (const auto record = parse_action(*text))
          for (const auto& output : record->outputs) candidate.objects.push_back(output.object.sha256);
      } else if (const auto closed = cannot_read(file); closed && all_read) {
        all_read = std::unexpected(store_problem("cannot read", file, closed));
      }
      for (const auto& object : candidate.objects) ++m_objects[object].records;
      m_candidates.push_back(std::move(candidate));
    }));
    return all_read;
  }

  /// What a build put and has not named yet is young.
  void remove_orphans() {
    for (auto& [name, object] : m_objects) {
      const auto young = [&](const fs::path& file) {
        std::error_code error;
        return m_now - fs::last_write_time(file, error) < std::chrono::hours(1);
      };
      if (object.records == 0 && std::ranges::none_of(object.files, young)) remove_object(object);
    }
  }

  struct Object {
    std::vector<fs::path> files;
    std::uint64_t records = 0;
  };

  void remove_object(Object& object) {
    for (const auto& file : object.files) m_result.objects += remove_file(file);
    object.files.clear();
  }

  void remove(const Candidate& candidate) {
    if (!candidate.is_record) return remove_folder(candidate.path);
    // The record first: one that names what is gone is a miss all the same, but says "lost".
    if (!remove_file(candidate.path)) return;
    ++m_result.records;
    for (const auto& name : candidate.objects)
      if (auto& object = m_objects[name]; --object.records == 0) remove_object(object);
  }

  void remove_folder(const fs::path& folder) {
    fs::path place = folder;
    std::error_code error, ignored;
    if (!m_options.dry_run) {
      // Its name goes first: half a folder must not look like a whole one.
      const auto dying = m_store / "tmp" / ("dying-" + folder.filename().string());
      fs::create_directories(dying.parent_path(), error);
      fs::rename(folder, dying, error);
      if (!error) place = dying;
    }
    each_file(place, [&](const fs::path& file) { m_use.drop(file); });
    if (!m_options.dry_run) remove_quietly(place);
    if (error && fs::exists(folder, ignored)) {
      each_file(folder, [&](const fs::path& file) { m_use.add(file); });
      return tell(folder, error);
    }
    ++m_result.folders;
  }

  bool remove_file(const fs::path& file) {
    m_use.drop(file);
    std::error_code error;
    if (!m_options.dry_run) fs::remove(file, error);
    if (!error) return true;
    m_use.add(file);
    tell(file, error);
    return false;
  }

  void tell(const fs::path& path, const std::error_code& error) {
    if (!m_result.problem) m_result.problem = store_problem("cannot remove", path, error);
  }

  /// What was learned on the way; all of it can be found out again.
  void remove_learned() {
    std::vector<fs::path> old;
    for (const auto* name : {"history", "looks", "specs"})
      each_file(m_store / name, [&](const fs::path& file) {
        std::error_code error;
        if (too_old(fs::last_write_time(file, error))) old.push_back(file);
      });
    for (const auto& file : old) remove_file(file);
  }

  const fs::path& m_store;
  const TrimOptions& m_options;
  FileTime m_now = FileTime::clock::now();
  DiskUse m_use;
  std::unordered_map<std::string, Object> m_objects;
  std::vector<Candidate> m_candidates;
  Trimmed m_result;
};

}  // namespace

Result<Trimmed> cache_trim(const fs::path& store, const TrimOptions& options) {
  TRY(check_is_store(store));
  return Trim(store, options).run();
}

}  // namespace sagekit
