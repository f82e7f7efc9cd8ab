#pragma once
// Content of files, read once in a build.

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace sagekit {

struct FileContent {
  std::string sha256;
  bool names_time =
      false;  ///< has __DATE__, __TIME__ or __TIMESTAMP__ in it: what a compiler makes of it may differ by date
};

/// Of files that nobody changes during a build, each read once. Thread-safe.
class FileHashes {
 public:
  /// Nothing when it cannot be read.
  std::optional<FileContent> of(const std::filesystem::path& file);

 private:
  std::mutex m_mutex;
  std::unordered_map<std::string, std::optional<FileContent>> m_known;
};

}  // namespace sagekit
