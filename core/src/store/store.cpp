#include "store/store.hpp"

#include "support/descriptor.hpp"
#include "support/format.hpp"
#include "support/run_owner.hpp"
#include "support/sha256.hpp"
#include "support/try.hpp"
#include "support/zstd.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_most_records = 64;  // sets of headers looked at for one key, newest first
constexpr int k_level = 3;                  // of zstd: 9 saves a tenth more for five times the time (docs/measured.md)
constexpr std::string_view k_packed = ".zst";
constexpr std::uint64_t k_least_bound = 1 << 20;

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

fs::path sharded(const fs::path& folder, const std::string& key) {
  return folder.native() + "/" + key.substr(0, 2) + "/" + key;
}

/// What a wheel takes as it is stays as it is: the cells that share it link to it. Everything else is a fifth of its
/// size when compressed (docs/measured.md).
bool is_module(const fs::path& file) {
  const auto extension = file.extension();
  return extension == ".so" || extension == ".pyd" || extension == ".whl";
}

Status publish(const fs::path& file, const fs::path& target) {
  std::error_code error;
  fs::permissions(file, static_cast<fs::perms>(0444), error);
  if (!error && !sync_file(file)) error = std::error_code(errno, std::generic_category());
  if (error) return cannot("write", file, error);
  TRY(make_directories(target.parent_path()));
  fs::rename(file, target, error);
  if (error) return cannot("write", target, error);
  return {};
}

struct RecordFile {
  std::chrono::sys_time<std::chrono::nanoseconds> used;
  std::string path;
  auto operator<=>(const RecordFile&) const = default;
};

std::chrono::sys_time<std::chrono::nanoseconds> time_of(const struct ::stat& info) {
  return std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::seconds(info.st_mtim.tv_sec) +
                                                         std::chrono::nanoseconds(info.st_mtim.tv_nsec));
}

/// A rerun asks for thousands of keys, most of which have one record: calls of the system are what it takes, so that
/// only several are asked for their times.
std::vector<RecordFile> record_files(const fs::path& folder) {
  std::vector<RecordFile> files;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(folder.c_str()), ::closedir);
  while (const auto* entry = listing ? ::readdir(listing.get()) : nullptr)
    if (std::string_view(entry->d_name).ends_with(k_record_suffix))
      files.push_back({{}, folder.string() + "/" + entry->d_name});
  if (files.size() < 2) return files;
  for (auto& file : files)
    if (struct ::stat info{}; ::stat(file.path.c_str(), &info) == 0) file.used = time_of(info);
  std::ranges::sort(files, std::greater{});
  if (files.size() > k_most_records) files.resize(k_most_records);
  return files;
}

/// Not mapped: records are small.
std::optional<ActionRecord> read_record(RecordFile& file) {
  const Descriptor opened{::open(file.path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct ::stat info{};
  if (!opened.open() || ::fstat(opened.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  if (::read(opened.get(), text.data(), text.size()) != info.st_size) return std::nullopt;
  file.used = time_of(info);
  return parse_action(text);
}

/// Of a file that may well be missing: read_file would look for names like it.
std::optional<std::string> text_if_there(const fs::path& file) {
  if (std::error_code error; !fs::exists(file, error)) return std::nullopt;
  auto text = read_file(file);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

/// A record's time is its last use, to the hour: a rerun of thousands of hits should not write thousands of times.
void mark_used(const RecordFile& file) {
  if (std::chrono::system_clock::now() - file.used <= std::chrono::hours(1)) return;
  ::utimensat(AT_FDCWD, file.path.c_str(), nullptr, 0);
}

}  // namespace

Result<Store> Store::open(const fs::path& root, StoreOptions options) {
  std::error_code error;
  const fs::path absolute = fs::absolute(root, error);
  for (const auto name : {"objects", "actions", "history", "tmp"}) TRY(make_directories(absolute / name));
  // Folders that are there may still be someone else's.
  if (::access((absolute / "objects").c_str(), W_OK) != 0 || ::access((absolute / "tmp").c_str(), W_OK) != 0)
    return fail(ErrorKind::usage, "FIL002", fmt::format("cannot write to {}: {}", absolute.string(), last_os_error()),
                "check its owner and permissions, or name another with --store DIR");
  return Store(absolute, std::move(options));
}

Store Store::look_into(const fs::path& root, Say say) {
  std::error_code error;
  return {fs::absolute(root, error), {.say = std::move(say)}};
}

Result<TemporaryFolder> Store::temporary() const { return TemporaryFolder::create(folder("tmp"), "s@" + own_mark()); }

void Store::say(const std::string& text) const {
  if (m_options.say) m_options.say(text);
}

fs::path Store::object_path(const std::string& sha256) const { return sharded(folder("objects"), sha256); }

Result<StoredObject> Store::put(const fs::path& file) const {
  if (!is_module(file)) {
    TRY_ASSIGN(const MappedFile content, MappedFile::open(file));
    return put_bytes(content.bytes());
  }
  std::error_code error;
  StoredObject object;
  TRY_ASSIGN(object.sha256, sha256_file(file));
  object.size_bytes = fs::file_size(file, error);
  if (error) return cannot("read", file, error);
  const auto target = object_path(object.sha256);
  if (fs::file_size(target, error) == object.size_bytes && !error) return object;
  TRY_ASSIGN(const TemporaryFolder scratch, temporary());
  TRY(link_or_copy(file, scratch.path() / "object"));
  TRY(publish(scratch.path() / "object", target));
  return object;
}

Result<StoredObject> Store::put_bytes(std::string_view bytes, bool plain) const {
  StoredObject object{sha256_hex(bytes), bytes.size()};
  if (has_here(object)) return object;
  TRY_ASSIGN(const TemporaryFolder scratch, temporary());
  const auto file = scratch.path() / "object";
  auto target = object_path(object.sha256);
  if (plain) {
    TRY(write_file(file, bytes));
  } else {
    TRY(write_file(file, zstd_frame(bytes, k_level)));
    target += k_packed;
  }
  TRY(publish(file, target));
  return object;
}

bool Store::has_here(const StoredObject& object) const {
  if (object.sha256.size() != 64) return false;
  auto path = object_path(object.sha256).string();
  const auto plain = path.size();
  path += k_packed;  // most are
  struct ::stat info{};
  if (::stat(path.c_str(), &info) == 0) {
    if (info.st_size > 0) return true;
    discard(path);
  }
  path.resize(plain);
  if (::stat(path.c_str(), &info) != 0) return false;
  if (static_cast<std::uint64_t>(info.st_size) == object.size_bytes) return true;
  discard(path);
  return false;
}

void Store::discard(const fs::path& object) const {
  remove_quietly(object);
  say(fmt::format("{} is damaged: it is discarded, and made again where it is needed", object.string()));
}

bool Store::has(const StoredObject& object) const {
  return has_here(object) ||
         std::ranges::any_of(m_options.levels, [&](const auto& level) { return level->has(object); });
}

std::optional<std::string> Store::content_here(const StoredObject& object) const {
  for (const std::string_view suffix : {std::string_view(), k_packed}) {
    auto path = object_path(object.sha256);
    path += suffix;
    const auto file = MappedFile::open(path);
    if (!file) continue;
    auto content = suffix.empty() ? std::optional(std::string(file->bytes()))
                                  : zstd_content(file->bytes(), std::max(object.size_bytes, k_least_bound));
    if (content && sha256_hex(*content) == object.sha256) return content;
    discard(path);
  }
  return std::nullopt;
}

Result<std::string> Store::content(const StoredObject& object) const {
  if (object.sha256.size() == 64) {
    if (auto content = content_here(object)) return *std::move(content);
    for (const auto& level : m_options.levels)
      if (auto content = level->content(object)) {
        TRY(put_bytes(*content));
        return *std::move(content);
      }
  }
  return fail(ErrorKind::failed, "STO001", fmt::format("{} of the store is missing or damaged", object.sha256));
}

Status Store::place(const StoredObject& object, const fs::path& at) const {
  const auto plain = object.sha256.size() == 64 ? object_path(object.sha256) : fs::path();
  if (const auto found = sha256_file(plain); found && *found == object.sha256) return link_or_copy(plain, at);
  TRY_ASSIGN(const auto bytes, content(object));
  if (is_module(at)) {
    TRY(put_bytes(bytes, true));
    std::error_code error;
    if (fs::exists(plain, error)) return link_or_copy(plain, at);
  }
  TRY(make_directories(at.parent_path()));
  TRY_ASSIGN(const TemporaryFolder scratch, TemporaryFolder::create(at.parent_path(), ".new"));
  const auto made = scratch.path() / "file";
  TRY(write_file(made, bytes));
  std::error_code error;
  fs::permissions(made, static_cast<fs::perms>(0444), error);
  if (!error) fs::rename(made, at, error);
  if (error) return cannot("write", at, error);
  return {};
}

std::vector<ActionRecord> Store::records(const std::string& key) const {
  std::vector<ActionRecord> records;
  for (auto& file : record_files(sharded(folder("actions"), key)))
    if (auto record = read_record(file)) records.push_back(std::move(*record));
  return records;
}

std::optional<ActionRecord> Store::find(const std::string& key, const Fits& fits) const {
  for (auto& file : record_files(sharded(folder("actions"), key)))
    if (auto record = read_record(file); record && fits(*record)) {
      mark_used(file);
      return record;
    }
  for (const auto& level : m_options.levels)
    for (auto& record : level->records(key))
      if (fits(record)) {
        [[maybe_unused]] const auto kept = keep_record(key, record);
        return std::move(record);
      }
  return std::nullopt;
}

Result<fs::path> Store::keep_record(const std::string& key, const ActionRecord& record) const {
  Sha256 hash;
  for (const auto& [path, sha256] : record.headers) {
    hash.field(path);
    hash.field(sha256);
  }
  hash.field(record.epoch);
  auto path = sharded(folder("actions"), key) / (hash.hex().substr(0, 32) += k_record_suffix);
  TRY(write_file_atomic(path, action_text(record)));
  return path;
}

Status Store::add_record(const std::string& key, const ActionRecord& record) const {
  TRY_ASSIGN(const auto path, keep_record(key, record));
  if (m_options.journal) m_options.journal->made(path.lexically_relative(m_root).string());
  if (m_options.push) m_options.push->push(key, record, [this](const StoredObject& object) { return content(object); });
  return {};
}

std::optional<FileLock> Store::claim(const std::string& key, const std::stop_token& stop, bool& waited) const {
  const auto path = sharded(folder("claims"), key);
  while (!stop.stop_requested()) {
    auto lock = FileLock::acquire(path, false);
    if (!lock) return std::nullopt;  // a file system without locks
    if (*lock) return std::move(*lock);
    waited = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return std::nullopt;
}

std::optional<Measured> Store::history(const std::string& key) const {
  const auto text = text_if_there(sharded(folder("history"), key));
  return text ? parse_measured(*text) : std::nullopt;
}

void Store::remember(const std::string& key, const Measured& measured) const {
  if (!m_options.learns) return;
  [[maybe_unused]] const auto written = write_file_atomic(sharded(folder("history"), key), measured_text(measured));
}

std::vector<std::pair<std::string, std::string>> Store::parts(const std::string& key) const {
  const auto text = text_if_there(sharded(folder("history"), key + ".parts"));
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
