#pragma once
// The JSON texts that list wheels, read as the parser comes by their words: the text of ten thousand wheels is not
// built up as a tree first.

#include <sagekit/resolve.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// One entry of a list, as it stands there.
struct ListedWheel {
  std::string file, url, hash;
  Candidate::Manifest manifest;  ///< of our own list
  std::uint64_t size_bytes = 0;
};

struct ListedRelease {
  enum class Form {
    none,      ///< JSON, and neither
    manifest,  ///< ours: an object with `wheels`
    assets,    ///< GitHub's REST API, "Get a release": an object with `assets`, or a list of those
  } form = Form::none;
  std::string schema;
  bool has_list = false;  ///< of every release
  bool all_objects = true;
  bool too_many = false;  ///< the rest was not read
  std::vector<ListedWheel> wheels;
};

inline constexpr std::string_view k_release_schema = "sagekit.release/1";

/// Nothing when it is no JSON.
std::optional<ListedRelease> read_listed_release(std::string_view text);

}  // namespace sagekit
