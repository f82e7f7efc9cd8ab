#include "build/file_hashes.hpp"

#include "support/sha256.hpp"

namespace sagekit {

namespace fs = std::filesystem;

std::optional<std::string> FileHashes::of(const fs::path& file) {
  {
    const std::lock_guard lock(m_mutex);
    if (const auto found = m_known.find(file.string()); found != m_known.end()) return found->second;
  }
  auto hash = sha256_file(file);
  std::optional<std::string> value;
  if (hash) value = std::move(*hash);
  const std::lock_guard lock(m_mutex);
  return m_known.emplace(file.string(), std::move(value)).first->second;
}

}  // namespace sagekit
