#pragma once
// The one place in core that includes nlohmann-json. Ordered: keys come out as they were put in.
#include <nlohmann/json.hpp>

namespace sagekit {
using Json = nlohmann::ordered_json;

/// Two-space indented text that ends in a newline; bytes that are not UTF-8 become U+FFFD.
inline std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
}  // namespace sagekit
