#include "package/place_file.hpp"

#include "support/file.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/try.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

std::unexpected<Error> not_written(const fs::path& path) {
  return fail(ErrorKind::machine, "PKG002", fmt::format("{} cannot be written: {}", path.string(), last_os_error()),
              "look at the space left and at the folder's permissions");
}

/// On the disk before it gets its name.
Status flush(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return not_written(path);
  const bool flushed = ::fsync(fd) == 0;
  ::close(fd);
  if (!flushed) return not_written(path);
  return {};
}

std::unexpected<Error> taken(const fs::path& path, const std::string& there, const std::string& ours) {
  return fail(
      ErrorKind::failed, "PKG001",
      fmt::format("{} is there already and is another wheel: sha256 {} there, {} now", path.string(), there, ours),
      "two different wheels must not have one name: move the old one away, or choose another -o or --naming");
}

/// Renames without replacing. True: the name was free.
Result<bool> take_name(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  if (errno != EINVAL && errno != ENOSYS) return not_written(to);
  // A file system without it (some network ones): the output folder's lock keeps other sagekits away.
  std::error_code error;
  if (fs::exists(to, error)) return false;
  fs::rename(from, to, error);
  if (error)
    return fail(ErrorKind::machine, "PKG002", fmt::format("{} cannot be written: {}", to.string(), error.message()));
  return true;
}

}  // namespace

Result<bool> place_file(const fs::path& from, const fs::path& to, bool copied) {
  if (!copied) TRY(flush(from));
  TRY_ASSIGN(const bool placed, take_name(from, to));
  if (placed) {
    if (!copied) TRY(flush(to.has_parent_path() ? to.parent_path() : fs::path(".")));
    return true;
  }
  TRY_ASSIGN(const auto there, sha256_file(to));
  TRY_ASSIGN(const auto ours, sha256_file(from));
  if (there != ours) return taken(to, there, ours);
  return false;
}

}  // namespace sagekit
