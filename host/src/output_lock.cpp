#include "output_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace sagekit::host {

Result<OutputLock> OutputLock::acquire(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto file = folder / ".sagekit.lock";
  const int fd = error ? -1 : ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0)
    return fail(ErrorKind::usage, "FIL002",
                "cannot write to " + folder.string() + ": " + (error ? error.message() : std::strerror(errno)),
                "name another folder with -o DIR");
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return OutputLock(fd, file);
  ::close(fd);
  return fail(ErrorKind::failed, "PKG003", "another sagekit is writing to " + folder.string(),
              "wait for it, or name another folder with -o DIR");
}

OutputLock::OutputLock(OutputLock&& other) noexcept
    : m_fd(std::exchange(other.m_fd, -1)), m_file(std::move(other.m_file)) {}

OutputLock::~OutputLock() {
  if (m_fd < 0) return;
  ::unlink(m_file.c_str());
  ::close(m_fd);
}

}  // namespace sagekit::host
