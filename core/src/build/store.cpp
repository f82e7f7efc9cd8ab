#include "build/store.hpp"

#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/try.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_most_records = 64;  // sets of headers looked at for one key, newest first

std::unexpected<Error> cannot(std::string_view what, const fs::path& path, const std::error_code& error) {
  const bool full = error == std::errc::no_space_on_device;
  return fail(full ? ErrorKind::machine : ErrorKind::usage, full ? "STO002" : "STO003",
              fmt::format("cannot {} {}: {}", what, path.string(), error.message()),
              full ? "free some space, or point --store at another disk" : "");
}

bool sync_file(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = ::fsync(fd) == 0;
  ::close(fd);
  return done;
}

fs::path sharded(const fs::path& folder, const std::string& key) { return folder / key.substr(0, 2) / key; }

}  // namespace

Result<Store> Store::open(const fs::path& root) {
  std::error_code error;
  const fs::path absolute = fs::absolute(root, error);
  for (const auto name : {"objects", "actions", "history", "tmp"}) TRY(make_directories(absolute / name));
  return Store(absolute);
}

fs::path Store::object_path(const std::string& sha256) const { return sharded(folder("objects"), sha256); }

Result<StoredObject> Store::put(const fs::path& file) const {
  std::error_code error;
  StoredObject object;
  TRY_ASSIGN(object.sha256, sha256_file(file));
  object.size_bytes = fs::file_size(file, error);
  if (error) return cannot("read", file, error);
  if (has(object)) return object;

  TRY_ASSIGN(const TemporaryFolder scratch, temporary());
  const fs::path copy = scratch.path() / "object";
  TRY(link_or_copy(file, copy));
  fs::permissions(copy, static_cast<fs::perms>(0444), error);
  if (!error && !sync_file(copy)) error = std::error_code(errno, std::generic_category());
  if (error) return cannot("write", copy, error);
  const fs::path target = object_path(object.sha256);
  TRY(make_directories(target.parent_path()));
  fs::rename(copy, target, error);
  if (error) return cannot("write", target, error);
  return object;
}

bool Store::has(const StoredObject& object) const {
  if (object.sha256.size() != 64) return false;
  std::error_code error;
  const auto size = fs::file_size(object_path(object.sha256), error);
  return !error && size == object.size_bytes;
}

Status Store::place(const StoredObject& object, const fs::path& at) const {
  const fs::path source = object.sha256.size() == 64 ? object_path(object.sha256) : fs::path();
  const auto found = sha256_file(source);
  if (!found || *found != object.sha256) {
    if (found) remove_quietly(source);
    return fail(ErrorKind::failed, "STO001",
                fmt::format("{} of the store is {}", object.sha256, found ? "damaged" : "missing"));
  }
  return link_or_copy(source, at);
}

std::vector<ActionRecord> Store::records(const std::string& key) const {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  fs::directory_iterator walk(sharded(folder("actions"), key), error), end;
  for (; !error && walk != end; walk.increment(error)) {
    std::error_code ignored;
    if (walk->path().extension() == ".json") files.emplace_back(walk->last_write_time(ignored), walk->path());
  }
  std::ranges::sort(files, std::greater{});
  std::vector<ActionRecord> records;
  for (const auto& [time, path] : files) {
    if (records.size() == k_most_records) break;
    const auto text = read_file(path);
    if (!text) continue;
    if (auto record = parse_action(*text)) records.push_back(std::move(*record));
  }
  return records;
}

Status Store::add_record(const std::string& key, const ActionRecord& record) const {
  Sha256 hash;
  for (const auto& [path, sha256] : record.headers) {
    hash.field(path);
    hash.field(sha256);
  }
  hash.field(record.epoch);
  return write_file_atomic(sharded(folder("actions"), key) / (hash.hex().substr(0, 32) + ".json"), action_text(record));
}

std::optional<Measured> Store::history(const std::string& key) const {
  const auto text = read_file(sharded(folder("history"), key));
  return text ? parse_measured(*text) : std::nullopt;
}

void Store::remember(const std::string& key, const Measured& measured) const {
  [[maybe_unused]] const auto written = write_file_atomic(sharded(folder("history"), key), measured_text(measured));
}

std::vector<std::pair<std::string, std::string>> Store::parts(const std::string& key) const {
  const auto text = read_file(sharded(folder("history"), key + ".parts"));
  return text ? parse_parts(*text) : std::vector<std::pair<std::string, std::string>>();
}

void Store::remember_parts(const std::string& key,
                           const std::vector<std::pair<std::string, std::string>>& parts) const {
  [[maybe_unused]] const auto written =
      write_file_atomic(sharded(folder("history"), key + ".parts"), parts_text(parts));
}

Status link_or_copy(const fs::path& file, const fs::path& at) {
  TRY(make_directories(at.parent_path()));
  // By a rename, so that a file that is there, maybe linked into the store, is never written to.
  TRY_ASSIGN(const TemporaryFolder scratch, TemporaryFolder::create(at.parent_path(), ".new"));
  const fs::path made = scratch.path() / "file";
  std::error_code error;
  fs::create_hard_link(file, made, error);
  if (error) {
    error.clear();
    fs::copy_file(file, made, error);
  }
  if (!error) fs::rename(made, at, error);
  if (error) return cannot("write", at, error);
  return {};
}

Status copy_tree(const fs::path& from, const fs::path& to) {
  TRY(make_directories(to));
  std::error_code error;
  fs::recursive_directory_iterator walk(from, error), end;
  for (; !error && walk != end; walk.increment(error)) {
    const fs::path target = to / walk->path().lexically_relative(from);
    std::error_code ignored;
    const auto status = walk->symlink_status(ignored);
    if (fs::is_directory(status)) {
      TRY(make_directories(target));
    } else {
      std::error_code failed;
      fs::copy(walk->path(), target, fs::copy_options::copy_symlinks, failed);
      if (!failed && fs::is_regular_file(status))
        fs::permissions(target, fs::perms::owner_write, fs::perm_options::add, failed);
      if (failed) return cannot("copy to", target, failed);
    }
  }
  if (error) return cannot("read", from, error);
  return {};
}

}  // namespace sagekit
