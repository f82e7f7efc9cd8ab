#include "support/toml_guard.hpp"

#include "support/utf8.hpp"

#include <algorithm>
#include <cstddef>

namespace sagekit {

namespace {

constexpr std::size_t k_max_bytes = std::size_t{1} << 20;
constexpr int k_max_depth = 32;
constexpr int k_max_dots_per_line = 64;

std::optional<TomlFault> utf8_fault(std::string_view text) {
  const std::size_t length = utf8_length(text);
  if (length == text.size()) return std::nullopt;
  const std::string_view before = text.substr(0, length);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') + 1;  // 0 where there is none
  return TomlFault{"the text is not UTF-8; save it as that", static_cast<int>(line),
                   static_cast<int>(length - line_begin) + 1};
}

/// Where a text opens more brackets or dotted keys than toml11's recursion should follow; 0 = nowhere. Knows strings
/// and comments, nothing else of TOML.
int too_deep_line(std::string_view text) {
  int line = 1, depth = 0, dots = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line, dots = 0;
    } else if (c == '#') {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
    } else if (c == '"' || c == '\'') {
      const std::string_view quote =
          text.substr(i).starts_with(std::string(3, c)) ? text.substr(i, 3) : text.substr(i, 1);
      for (i += quote.size(); i < text.size() && !text.substr(i).starts_with(quote); ++i) {
        if (text[i] == '\n') {
          if (quote.size() == 1) break;
          ++line, dots = 0;
        }
        if (c == '"' && text[i] == '\\') ++i;
      }
      if (i < text.size() && text[i] == '\n') {
        --i;  // an unclosed string ends with its line
      } else {
        i += quote.size() - 1;
        while (quote.size() == 3 && i + 1 < text.size() && text[i + 1] == c)
          ++i;  // """a"""" ends in a quote of its own
      }
    } else if (c == '[' || c == '{') {
      if (++depth > k_max_depth) return line;
    } else if (c == ']' || c == '}') {
      depth = std::max(0, depth - 1);
    } else if (c == '.') {
      if (++dots > k_max_dots_per_line) return line;
    }
  }
  return 0;
}

}  // namespace

std::optional<TomlFault> toml_fault(std::string_view text) {
  if (text.size() > k_max_bytes) return TomlFault{"the text is larger than 1 MiB", 0, 0};
  if (auto fault = utf8_fault(text)) return fault;
  if (const int line = too_deep_line(text); line != 0) return TomlFault{"values are nested too deep", line, 1};
  return std::nullopt;
}

}  // namespace sagekit
