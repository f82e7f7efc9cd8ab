#include "archive/tar_writer.hpp"

#include "archive/ustar.hpp"
#include "support/format.hpp"
#include "support/run_owner.hpp"
#include "support/try.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace sagekit {

namespace {

constexpr const char* k_unnamed = "tar";

std::unexpected<Error> write_failed(const std::filesystem::path& file) {
  const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
  return fail(full ? ErrorKind::machine : ErrorKind::usage, "FIL002",
              fmt::format("cannot write {}: {}", file.string(), last_os_error()),
              full ? "free some space, or write it to another disk"
                   : "name a file in a folder that is there and that this user may write to");
}

}  // namespace

Result<TarWriter> TarWriter::create(const std::filesystem::path& file) {
  TRY(check_replaceable(file));
  const auto parent = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  std::error_code error;
  errno = ENOENT;
  if (!std::filesystem::is_directory(parent, error)) return write_failed(file);
  TRY_ASSIGN(auto folder, own_temporary(parent, ".sagekit"));
  const auto temporary = folder.path() / k_unnamed;
  Descriptor descriptor(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!descriptor.open()) return write_failed(file);
  return TarWriter(file, std::move(folder), std::move(descriptor));
}

Status TarWriter::write(std::string_view bytes) {
  m_bytes += bytes.size();
  while (!bytes.empty()) {
    const ssize_t n = ::write(m_descriptor.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return write_failed(m_file);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Status TarWriter::add(std::string_view folder, std::string_view name, std::string_view bytes) {
  const auto header = ustar_header({folder, name, bytes.size()});
  if (!header) return fail(ErrorKind::bug, "PKG002", fmt::format("{}/{} does not fit into a tar file", folder, name));
  TRY(write(*header));
  TRY(write(bytes));
  static constexpr std::array<char, k_tar_block> k_zeros{};
  return write({k_zeros.data(), (k_tar_block - bytes.size() % k_tar_block) % k_tar_block});
}

Status TarWriter::finish() {
  static constexpr std::array<char, 2 * k_tar_block> k_end{};
  TRY(write({k_end.data(), k_end.size()}));
  if (::fchmod(m_descriptor.get(), 0644) != 0 || ::fsync(m_descriptor.get()) != 0 ||
      ::rename((m_folder.path() / k_unnamed).c_str(), m_file.c_str()) != 0)
    return write_failed(m_file);
  return {};
}

}  // namespace sagekit
