#include "json_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sagekit::host {

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", static_cast<int>(c));
    else
      result += c;
  }
  return result + "\"";
}

std::string json_document(std::string_view schema, std::string_view key, const std::vector<std::string>& rows) {
  return fmt::format("{{\n  \"schema\": {},\n  {}: [\n{}\n  ]\n}}\n", json_string(schema), json_string(key),
                     fmt::join(rows, ",\n"));
}

}  // namespace sagekit::host
