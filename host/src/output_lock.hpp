#pragma once
// One writer at a time in an output folder.

#include "console.hpp"

#include <sagekit/error.hpp>

#include <filesystem>
#include <stop_token>

namespace sagekit::host {

class OutputLock {
 public:
  /// Makes the folder if needed. While another process writes there it waits, and says so once. The lock
  /// ends with the process, and a folder that was made for it and holds nothing goes. Errors: FIL002 (usage), BLD006
  /// (interrupted) when `stop` is requested meanwhile.
  static Result<OutputLock> acquire(const std::filesystem::path& folder, const Console& console,
                                    const std::stop_token& stop);
  /// Could it make the folder, or write there? Nothing is made. FIL002 (usage).
  static Status check(const std::filesystem::path& folder);
  OutputLock(OutputLock&& other) noexcept;
  OutputLock& operator=(OutputLock&&) = delete;
  ~OutputLock();

 private:
  OutputLock(int fd, std::filesystem::path file, bool made) : m_fd(fd), m_file(std::move(file)), m_made(made) {}
  int m_fd;
  std::filesystem::path m_file;
  bool m_made;  ///< its folder
};

}  // namespace sagekit::host
