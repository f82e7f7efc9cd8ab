#include "support/toml_guard.hpp"

#include <algorithm>
#include <cstdint>

namespace sagekit {

namespace {

constexpr std::size_t k_max_bytes = std::size_t{1} << 20;
constexpr int k_max_depth = 32;
constexpr int k_max_dots_per_line = 64;

std::uint32_t byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

/// Bytes of the UTF-8 sequence at `i`; 0 when there is none (RFC 3629: no overlong forms, no surrogates).
std::size_t sequence_length(std::string_view text, std::size_t i) {
  const std::uint32_t first = byte_at(text, i);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  std::uint32_t point = first & (0x7fu >> length);
  for (std::size_t k = 1; k < length; ++k) {
    const std::uint32_t next = byte_at(text, i + k);
    if ((next & 0xc0u) != 0x80) return 0;
    point = (point << 6) | (next & 0x3fu);
  }
  constexpr std::uint32_t k_least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool fits = first >= 0xc0 && first < 0xf8 && point >= k_least[length] && point <= 0x10ffff;
  return fits && (point < 0xd800 || point > 0xdfff) ? length : 0;
}

std::optional<TomlFault> utf8_fault(std::string_view text) {
  int line = 1;
  std::size_t line_begin = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(text, i);
    if (length == 0) return TomlFault{"the text is not UTF-8", line, static_cast<int>(i - line_begin) + 1};
    if (text[i] == '\n') ++line, line_begin = i + 1;
    i += length;
  }
  return std::nullopt;
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
