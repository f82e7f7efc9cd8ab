#pragma once
// One writer at a time in an output folder.

#include <sagekit/error.hpp>

#include <filesystem>

namespace sagekit::host {

class OutputLock {
 public:
  /// Makes the folder if needed. Error PKG003 when another process is writing there; the lock ends with the process.
  static Result<OutputLock> acquire(const std::filesystem::path& folder);
  OutputLock(OutputLock&& other) noexcept;
  OutputLock& operator=(OutputLock&&) = delete;
  ~OutputLock();

 private:
  OutputLock(int fd, std::filesystem::path file) : m_fd(fd), m_file(std::move(file)) {}
  int m_fd;
  std::filesystem::path m_file;
};

}  // namespace sagekit::host
