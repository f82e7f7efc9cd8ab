#include "build/file_hashes.hpp"

#include "support/file.hpp"
#include "support/sha256.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

/// What a preprocessor puts the time in place of (gcc's manual, SOURCE_DATE_EPOCH). glibc's __TIMESIZE is none of them.
constexpr std::array<std::string_view, 3> k_times{"__DATE__", "__TIME__", "__TIMESTAMP__"};

}  // namespace

std::optional<FileContent> FileHashes::of(const fs::path& file) {
  {
    const std::lock_guard lock(m_mutex);
    if (const auto found = m_known.find(file.string()); found != m_known.end()) return found->second;
  }
  std::optional<FileContent> content;
  if (const auto mapped = MappedFile::open(file)) {
    const auto bytes = mapped->bytes();
    content = {sha256_hex(bytes), std::ranges::any_of(k_times, [&](std::string_view name) {
                 return bytes.find(name) != std::string_view::npos;
               })};
  }
  const std::lock_guard lock(m_mutex);
  return m_known.emplace(file.string(), std::move(content)).first->second;
}

}  // namespace sagekit
