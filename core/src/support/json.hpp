#pragma once
// The one place in core that includes nlohmann-json. Ordered: keys come out as they were put in.
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

// Compiled once, in json.cpp: a tenth of every source that writes JSON.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace sagekit {
using Json = nlohmann::ordered_json;

// Reading and writing stand in json.cpp: nlohmann's own are templates, which every source would compile again.

/// A whole document; is_discarded() when it is not JSON. Never throws.
Json parse_json(std::string_view text);

// Bytes that are not UTF-8 become U+FFFD.
std::string json_text(const Json& json);   ///< two-space indented, ends in a newline
std::string json_line(const Json& json);   ///< no blank and no newline
std::string json_ascii(const Json& json);  ///< the same, other letters escaped

/// Of foreign documents: the text at `key`, or "" when `json` is no object, has no such key or holds something else
/// there.
std::string text_at(const Json& json, std::string_view key);

/// Is there `true` at `key`?
bool truth_at(const Json& json, std::string_view key);

/// The texts of the list at `key`; what is no text is left out.
std::vector<std::string> texts_at(const Json& json, std::string_view key);
}  // namespace sagekit
