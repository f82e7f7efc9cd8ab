#pragma once
// What was read of wheels before: a line a wheel, good while the file's size, times and inode stay.

#include <sagekit/release.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace sagekit {

/// A file's state as the kernel tells it; equal states, equal bytes.
struct FileState {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileState&) const = default;
};

struct KnownWheel {
  FileState state;
  ReleasedWheel wheel;
};

/// By path. A text of another version, and lines that are not whole, are no knowledge.
std::map<std::string, KnownWheel, std::less<>> read_facts(std::string_view text);
/// A wheel whose facts do not fit into a line is left out: it will be read again.
std::string facts_text(const std::map<std::string, KnownWheel, std::less<>>& known);

}  // namespace sagekit
