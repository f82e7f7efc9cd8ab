#pragma once
// The one place in core that includes nlohmann-json. Ordered: keys come out as they were put in.
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {
using Json = nlohmann::ordered_json;

/// Two-space indented text that ends in a newline; bytes that are not UTF-8 become U+FFFD.
inline std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Of foreign documents: the text at `key`, or "" when `json` is no object, has no such key or holds something else there.
inline std::string text_at(const Json& json, std::string_view key) {
  if (!json.is_object()) return {};
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The texts of the list at `key`; what is no text is left out.
inline std::vector<std::string> texts_at(const Json& json, std::string_view key) {
  std::vector<std::string> texts;
  if (!json.is_object()) return texts;
  if (const auto found = json.find(key); found != json.end() && found->is_array())
    for (const auto& item : *found)
      if (item.is_string()) texts.push_back(item.get<std::string>());
  return texts;
}
}  // namespace sagekit
