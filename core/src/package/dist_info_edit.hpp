#pragma once
// Changes in the texts of a dist-info folder that leave every other byte as it is.

#include <sagekit/error.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// The text with these values for a header, where its first one was, else behind the last header. Bodies, other headers
/// and line ends stay.
std::string with_headers(std::string_view text, std::string_view name, const std::vector<std::string>& values);

/// Requirements with some replaced: each of `changes` instead of those on its project ("!NAME": none instead). Errors:
/// RTG007 (usage).
Result<std::vector<std::string>> with_requirements(std::vector<std::string> requirements,
                                                   const std::vector<std::string>& changes);

/// What became of a member: its new path, and its new content where that changed.
struct RecordChange {
  std::string path;
  const std::string* content = nullptr;
};
/// RECORD with `change` asked about each row's path. Errors: RTG002 (failed) when it cannot be read.
Result<std::string> with_members(std::string_view record,
                                 const std::function<RecordChange(const std::string&)>& change);

}  // namespace sagekit
