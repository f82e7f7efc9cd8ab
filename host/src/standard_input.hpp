#pragma once
// What is given besides a file: stdin, and folders that stand for what is in them.

#include <sagekit/error.hpp>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// All of stdin as a file, for "sagekit VERB -". Errors FIL001: stdin cannot be read, or is a terminal or empty;
/// FIL002: no room for it.
Result<TemporaryFile> take_standard_input(std::string_view verb);

/// What lies in the folder itself under names with one of these endings, sorted.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            std::initializer_list<std::string_view> endings);

/// The file name that a wheel's METADATA and WHEEL give it; "" when they do not say.
std::string name_of(const std::filesystem::path& wheel);

}  // namespace sagekit::host
