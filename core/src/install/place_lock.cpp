#include "install/place_lock.hpp"

#include "support/file.hpp"
#include "support/format.hpp"
#include "support/try.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace sagekit {

Result<PlaceLock> PlaceLock::acquire(const std::filesystem::path& site) {
  TRY(make_directories(site));
  const int fd = ::open(site.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return fail(ErrorKind::machine, "IST003", fmt::format("cannot open {}: {}", site.string(), last_os_error()));
  PlaceLock lock(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK)
    return fail(ErrorKind::machine, "IST005", fmt::format("another sagekit is installing into {}", site.string()),
                "wait until it is done, and run this again", site.string());
  return fail(ErrorKind::machine, "IST003", fmt::format("cannot lock {}: {}", site.string(), last_os_error()));
}

PlaceLock::~PlaceLock() {
  if (m_fd >= 0) ::close(m_fd);
}

}  // namespace sagekit
