#include "support/file.hpp"

#include "support/descriptor.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace sagekit {

namespace fs = std::filesystem;

std::string last_os_error() { return std::strerror(errno); }

namespace {

// Out of space is the machine's fault; everything else about a path is the user's.
std::unexpected<Error> write_error(const fs::path& path, std::string_view what) {
  const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return fail(
      full ? ErrorKind::machine : ErrorKind::usage, "FIL002",
      std::string(what) + " " + path.string() + ": " + last_os_error(),
      full ? "free some space there, or name a place on another disk" : "name a folder that this user may write to");
}

/// Pieces of 1 MiB are still in the cache when the kernel copies them: half the time of one call for all.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), std::min(bytes.size(), std::size_t{1} << 20));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

Status check_replaceable(const fs::path& path) {
  struct stat there{};
  if (::stat(path.c_str(), &there) != 0 || S_ISREG(there.st_mode)) return {};
  const bool folder = S_ISDIR(there.st_mode);
  return fail(ErrorKind::usage, "FIL002",
              "cannot write " + path.string() + ": it is " + (folder ? "a folder" : "no regular file"),
              folder ? "name a file in it" : "name a file");
}

Result<std::string> read_file(const fs::path& path) {
  TRY_ASSIGN(const MappedFile file, MappedFile::open(path));
  return std::string(file.bytes());
}

Status make_directories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return {};
  errno = error.value();
  return write_error(path, "cannot make folder");
}

Status write_file_atomic(const fs::path& path, std::string_view bytes, bool executable) {
  if (path.has_parent_path()) TRY(make_directories(path.parent_path()));
  TRY(check_replaceable(path));
  std::string temporary = path.string() + ".XXXXXX";
  const Descriptor file{::mkostemp(temporary.data(), O_CLOEXEC)};
  if (!file.open()) return write_error(path, "cannot write");
  if (!write_all(file.get(), bytes) || ::fchmod(file.get(), executable ? 0755 : 0644) != 0 ||
      ::fsync(file.get()) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int saved = errno;
    ::unlink(temporary.c_str());
    errno = saved;
    return write_error(path, "cannot write");
  }
  return {};
}

Status write_file(const fs::path& path, std::string_view bytes, bool executable) {
  return write_file(path, {bytes}, executable);
}

Status write_file(const fs::path& path, std::initializer_list<std::string_view> parts, bool executable) {
  if (path.has_parent_path()) TRY(make_directories(path.parent_path()));
  const Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644)};
  const auto write_part = [&](std::string_view part) { return write_all(file.get(), part); };
  if (!file.open() || !std::ranges::all_of(parts, write_part) || ::fchmod(file.get(), executable ? 0755 : 0644) != 0)
    return write_error(path, "cannot write");
  return {};
}

Status publish_folder(const fs::path& finished, const fs::path& name) {
  TRY(make_directories(name.parent_path()));
  // On disk before it has its name: after a crash a folder is whole or not there.
  if (const Descriptor folder{::open(finished.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)}; folder.open())
    ::syncfs(folder.get());
  if (::rename(finished.c_str(), name.c_str()) != 0 && errno != ENOTEMPTY && errno != EEXIST)
    return write_error(name, "cannot write");
  return {};
}

void remove_quietly(const fs::path& path) noexcept {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

Result<TemporaryFolder> TemporaryFolder::create(const fs::path& parent, std::string_view prefix) {
  TRY(make_directories(parent));
  std::string name = (parent / (std::string(prefix) + "-XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) return write_error(parent, "cannot make a folder in");
  return TemporaryFolder(name);
}

TemporaryFolder::~TemporaryFolder() {
  if (!m_path.empty()) remove_quietly(m_path);
}
TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : m_path(std::exchange(other.m_path, {})) {}

Result<std::optional<FileLock>> FileLock::acquire(const fs::path& path, bool wait) {
  for (;;) {
    if (path.has_parent_path()) TRY(make_directories(path.parent_path()));
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return write_error(path, "cannot open lock");
    FileLock lock(fd);
    while (::flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB)) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK) return std::optional<FileLock>{};
      return write_error(path, "cannot lock");
    }
    // Whoever held it may have removed its file: then nobody else finds the one that was waited for.
    struct stat held{}, there{};
    if (::fstat(fd, &held) == 0 && ::stat(path.c_str(), &there) == 0 && held.st_dev == there.st_dev &&
        held.st_ino == there.st_ino)
      return std::optional<FileLock>(std::move(lock));
  }
}

FileLock::~FileLock() {
  if (m_fd >= 0) ::close(m_fd);
}
FileLock::FileLock(FileLock&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}

std::string near_files(const fs::path& path) {
  constexpr std::size_t k_shown = 3;
  std::error_code error;
  if (path.string().find("://") != std::string::npos) return "nothing is fetched here: download it, and give the file";
  if (fs::is_symlink(path, error)) return "it is a link to " + fs::read_symlink(path, error).string();
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (path.filename().string().find_first_of("*?") != std::string::npos)
    return "nothing there has a name of that form, so that the shell left it as it stands";
  if (!fs::is_directory(folder, error)) return "there is no folder " + folder.string();
  std::vector<std::string> names, alike;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
    if (path.has_extension() && at->path().extension() == path.extension()) alike.push_back(names.back());
  }
  if (const auto near = nearest_word(path.filename().string(), names); !near.empty())
    return "did you mean \"" + (path.parent_path() / near).string() + "\"?";
  if (alike.empty()) return {};
  const auto more = alike.size() > k_shown ? " and " + std::to_string(alike.size() - k_shown) + " more" : "";
  const auto begin = path.has_parent_path() ? folder.string() + " has " : alike.size() == 1 ? "here is " : "here are ";
  return begin + join(nearest_words(path.filename().string(), std::move(alike), k_shown), ", ") + more;
}

Result<MappedFile> MappedFile::open(const fs::path& path) {
  // O_NONBLOCK: a named pipe without a writer would keep us waiting for ever.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat info{};
  const auto refuse = [&](std::string why, std::string hint = {}) {
    return fail(ErrorKind::usage, "FIL001", "cannot read " + path.string() + ": " + std::move(why), std::move(hint));
  };
  if (!file.open() || ::fstat(file.get(), &info) != 0) {
    const int number = errno;
    auto why = last_os_error();
    return refuse(std::move(why), number == ENOENT ? near_files(path)
                                  : number == EACCES || number == EPERM
                                      ? "its owner, or root, may let this user read it"
                                      : std::string());
  }
  if (S_ISDIR(info.st_mode)) return refuse("it is a folder", "name a file in it");
  if (!S_ISREG(info.st_mode)) return refuse("it is not a regular file");
  if (info.st_size == 0) return MappedFile(std::string_view{});
  const auto size = static_cast<std::size_t>(info.st_size);
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) return refuse(last_os_error());
  return MappedFile(std::string_view(static_cast<const char*>(address), size));
}

MappedFile::~MappedFile() {
  if (!m_bytes.empty()) ::munmap(const_cast<char*>(m_bytes.data()), m_bytes.size());
}
void MappedFile::forget(std::string_view part) const {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}
MappedFile::MappedFile(MappedFile&& other) noexcept : m_bytes(std::exchange(other.m_bytes, {})) {}

}  // namespace sagekit
