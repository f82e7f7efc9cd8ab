#pragma once
// Writes a tar file (POSIX ustar) member by member: files only, mode 0644, no owner, no time.

#include "support/descriptor.hpp"
#include "support/file.hpp"

#include <sagekit/error.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace sagekit {

class TarWriter {
 public:
  /// Writes beside `file`, which appears with `finish`; what a killed run left of it goes. FIL002.
  static Result<TarWriter> create(const std::filesystem::path& file);
  /// `folder` of at most 154 bytes, `name` of at most 99. FIL002; PKG002 (bug) for a longer name.
  Status add(std::string_view folder, std::string_view name, std::string_view bytes);
  Status finish();
  std::uint64_t bytes() const { return m_bytes; }

 private:
  TarWriter(std::filesystem::path file, TemporaryFolder folder, Descriptor descriptor)
      : m_file(std::move(file)), m_folder(std::move(folder)), m_descriptor(std::move(descriptor)) {}
  Status write(std::string_view bytes);

  std::filesystem::path m_file;
  TemporaryFolder m_folder;  ///< that it is written in, beside its place
  Descriptor m_descriptor;
  std::uint64_t m_bytes = 0;
};

}  // namespace sagekit
