#pragma once
// Whether a file is still the one that was looked at, without reading it again.

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace sagekit {

/// What changes with a file's content: a file put in its place has another inode, one written to another time of
/// change, which nobody can set back.
struct FileStamp {
  std::uint64_t inode = 0, size_bytes = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;
  auto operator<=>(const FileStamp&) const = default;
};

/// Of the file that a path leads to; nothing when there is none.
std::optional<FileStamp> stamp_of(const std::filesystem::path& file);

/// One word.
std::string to_string(const FileStamp& stamp);

/// The stamp of the file that this code is in: other rules are another file. "" when it cannot be found.
std::string own_stamp();

}  // namespace sagekit
