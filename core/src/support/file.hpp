#pragma once
// Files: read whole, map, write atomically, lock, temporary folders.

#include <sagekit/error.hpp>

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace sagekit {

std::string last_os_error();  ///< strerror(errno)

/// The whole file. Error FIL001 (usage) when it cannot be read.
Result<std::string> read_file(const std::filesystem::path& path);
/// FIL002 (usage): a file that is renamed to that name would take a device's or pipe's place, or a folder has it.
Status check_replaceable(const std::filesystem::path& path);
/// Writes a temporary file beside `path`, fsyncs, renames over it: never half a file under the name. FIL002.
Status write_file_atomic(const std::filesystem::path& path, std::string_view bytes, bool executable = false);
/// Writes in place, without fsync: for files of a folder that gets its name by publish_folder. FIL002; a full disk is
/// of kind machine.
Status write_file(const std::filesystem::path& path, std::string_view bytes, bool executable = false);
/// The same of bytes that lie apart, one after the other.
Status write_file(const std::filesystem::path& path, std::initializer_list<std::string_view> parts,
                  bool executable = false);
/// Renames a finished folder to its name, after its content is on disk. One that is there already is as good: names say
/// content.
Status publish_folder(const std::filesystem::path& finished, const std::filesystem::path& name);
Status make_directories(const std::filesystem::path& path);
/// rm -rf that reports nothing; for temporary things.
void remove_quietly(const std::filesystem::path& path) noexcept;

/// A new empty folder below `parent` that is removed with everything in it.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create(const std::filesystem::path& parent, std::string_view prefix = "tmp");
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&&) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  const std::filesystem::path& path() const { return m_path; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : m_path(std::move(path)) {}
  std::filesystem::path m_path;
};

/// An exclusive advisory lock (flock) on a file, created if needed; released with the process, whatever ends it.
class FileLock {
 public:
  /// std::nullopt when another process holds it and `wait` is false.
  static Result<std::optional<FileLock>> acquire(const std::filesystem::path& path, bool wait);
  ~FileLock();
  FileLock(FileLock&&) noexcept;
  FileLock& operator=(FileLock&&) = delete;

 private:
  explicit FileLock(int fd) : m_fd(fd) {}
  int m_fd = -1;
};

/// A file's bytes, mapped read-only. Empty files have an empty view.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&&) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  std::string_view bytes() const { return m_bytes; }
  /// These bytes are not wanted soon: they need no memory of this process until they are read again.
  void forget(std::string_view part) const;

 private:
  explicit MappedFile(std::string_view bytes) : m_bytes(bytes) {}
  std::string_view m_bytes;
};

}  // namespace sagekit
