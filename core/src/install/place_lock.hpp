#pragma once
// One install at a time in an environment, whoever starts them.

#include <sagekit/error.hpp>

#include <filesystem>

namespace sagekit {

/// An advisory lock on the folder of installed packages itself: no file of ours stays there, and it ends with the
/// process. IST005 (machine) when another process holds it.
class PlaceLock {
 public:
  static Result<PlaceLock> acquire(const std::filesystem::path& site);
  ~PlaceLock();
  PlaceLock(PlaceLock&& other) noexcept : m_fd(other.m_fd) { other.m_fd = -1; }
  PlaceLock& operator=(PlaceLock&&) = delete;

 private:
  explicit PlaceLock(int fd) : m_fd(fd) {}
  int m_fd;
};

}  // namespace sagekit
