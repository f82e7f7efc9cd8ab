#include "support/json.hpp"

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace sagekit {

namespace {

std::string dump(const Json& json, int indent, bool ascii) {
  return json.dump(indent, ' ', ascii, Json::error_handler_t::replace);
}

}  // namespace

Json parse_json(std::string_view text) { return Json::parse(text, nullptr, false); }

std::string json_text(const Json& json) { return dump(json, 2, false) + "\n"; }
std::string json_line(const Json& json) { return dump(json, -1, false); }
std::string json_ascii(const Json& json) { return dump(json, -1, true); }

std::string text_at(const Json& json, std::string_view key) {
  if (!json.is_object()) return {};
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool truth_at(const Json& json, std::string_view key) {
  if (!json.is_object()) return false;
  const auto found = json.find(key);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

std::vector<std::string> texts_at(const Json& json, std::string_view key) {
  std::vector<std::string> texts;
  if (!json.is_object()) return texts;
  if (const auto found = json.find(key); found != json.end() && found->is_array())
    for (const auto& item : *found)
      if (item.is_string()) texts.push_back(item.get<std::string>());
  return texts;
}

}  // namespace sagekit
