#pragma once
// The files of a store, for its care: walks, sizes, what a name says.

#include <sagekit/error.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace sagekit {

/// Calls `visit` for every file below `folder`, links not followed. STO003 names the first folder that this user may
/// not read, after all others were visited.
Status each_file(const std::filesystem::path& folder, const std::function<void(const std::filesystem::path&)>& visit);
/// Of all files below `folder`.
std::uint64_t bytes_below(const std::filesystem::path& folder);
/// STO005 (usage) when there is no store, STO003 when this user may not read it.
Status check_is_store(const std::filesystem::path& store);
/// The hash that an object's file name states; nothing for another name.
std::optional<std::string> object_name(const std::filesystem::path& file);

/// Bytes by inode: hard links count once, and free nothing until the last known one is gone.
class DiskUse {
 public:
  /// Bytes that this name adds.
  std::uint64_t add(const std::filesystem::path& file);
  /// Bytes that are free when it is removed.
  std::uint64_t drop(const std::filesystem::path& file);
  std::uint64_t bytes() const { return m_bytes; }

 private:
  struct Content {
    std::uint64_t size = 0, names = 0;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, Content> m_contents;
  std::uint64_t m_bytes = 0;
};

/// STO003 (usage): someone else's store, or a read-only one.
Error store_problem(std::string_view what, const std::filesystem::path& path, const std::error_code& error);

}  // namespace sagekit
