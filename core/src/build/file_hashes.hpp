#pragma once
// Content of files, hashed once in a build.

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace sagekit {

/// sha256 of files that nobody changes during a build, each read once. Thread-safe.
class FileHashes {
 public:
  std::optional<std::string> of(const std::filesystem::path& file);

 private:
  std::mutex m_mutex;
  std::unordered_map<std::string, std::optional<std::string>> m_known;
};

}  // namespace sagekit
