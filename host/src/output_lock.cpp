#include "output_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace sagekit::host {

namespace {

/// Who held the lock removes its file: what was waited for may then be a file that nobody else finds.
bool is_that_file(int fd, const std::filesystem::path& file) {
  struct stat held{}, there{};
  return ::fstat(fd, &held) == 0 && ::stat(file.c_str(), &there) == 0 && held.st_dev == there.st_dev &&
         held.st_ino == there.st_ino;
}

std::unexpected<Error> cannot_write(const std::filesystem::path& folder, const std::string& why) {
  return fail(ErrorKind::usage, "FIL002", "cannot write to " + folder.string() + ": " + why,
              "name another folder with -o DIR");
}

}  // namespace

Status OutputLock::check(const std::filesystem::path& folder) {
  std::error_code error;
  auto nearest = std::filesystem::absolute(folder, error);
  const auto not_there = [&] {
    return std::filesystem::symlink_status(nearest, error).type() == std::filesystem::file_type::not_found;
  };
  while (not_there() && nearest.has_relative_path()) nearest = nearest.parent_path();
  if (!std::filesystem::is_directory(nearest, error))
    return cannot_write(folder, (error ? error : std::make_error_code(std::errc::not_a_directory)).message());
  if (::faccessat(AT_FDCWD, nearest.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    return cannot_write(folder, std::strerror(errno));
  return {};
}

Result<OutputLock> OutputLock::acquire(const std::filesystem::path& folder, const Console& console,
                                       const std::stop_token& stop) {
  std::error_code error;
  const auto file = folder / ".sagekit.lock";
  for (bool told = false, made = false;;) {
    if (std::filesystem::create_directories(folder, error)) made = true;
    const int fd = error ? -1 : ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 && !error && errno == ENOENT) continue;  // who waited for nothing took the folder away just now
    if (fd < 0) return cannot_write(folder, error ? error.message() : std::strerror(errno));
    const bool held = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
    // A file system without locks (some NFS): two builds into one folder are then the user's to avoid.
    const bool no_locks = !held && errno != EWOULDBLOCK && errno != EINTR;
    if (no_locks || (held && is_that_file(fd, file))) return OutputLock(fd, file, made);
    ::close(fd);
    if (held) continue;
    if (!told) console.say("another sagekit writes to " + folder.string() + "; waiting for it");
    told = true;
    if (stop.stop_requested()) return fail(ErrorKind::interrupted, "BLD006", "stopped while waiting");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

OutputLock::OutputLock(OutputLock&& other) noexcept
    : m_fd(std::exchange(other.m_fd, -1)), m_file(std::move(other.m_file)), m_made(other.m_made) {}

OutputLock::~OutputLock() {
  if (m_fd < 0) return;
  ::unlink(m_file.c_str());
  if (m_made) ::rmdir(m_file.parent_path().c_str());  // what holds something stays
  ::close(m_fd);
}

}  // namespace sagekit::host
