#include "json_text.hpp"

#include <sagekit/utf8.hpp>

#include <fmt/format.h>

namespace sagekit::host {

namespace {

constexpr std::string_view k_replacement = "\xef\xbf\xbd";  // U+FFFD

}  // namespace

std::string json_string(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    if (bytes == 0)
      result += k_replacement;
    else if (code == '"' || code == '\\')
      result += {'\\', text[0]};
    else if (code < 0x20)
      result += fmt::format("\\u{:04x}", code);
    else
      result += text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return result + "\"";
}

}  // namespace sagekit::host
