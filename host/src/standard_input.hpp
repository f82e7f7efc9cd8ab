#pragma once
// A wheel that comes on stdin.

#include <sagekit/error.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace sagekit::host {

/// A file that is gone with this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path path) : m_path(std::move(path)) {}
  TemporaryFile(TemporaryFile&& other) noexcept : m_path(std::exchange(other.m_path, {})) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();
  const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
};

/// All of stdin as a file. Errors FIL001: stdin cannot be read, or is a terminal or empty; FIL002: no room for it.
Result<TemporaryFile> take_standard_input();

/// The file name that a wheel's METADATA and WHEEL give it; "" when they do not say.
std::string name_of(const std::filesystem::path& wheel);

}  // namespace sagekit::host
