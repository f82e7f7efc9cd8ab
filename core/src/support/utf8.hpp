#pragma once
// Is a text UTF-8, and only ASCII? A character more.

#include <sagekit/utf8.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sagekit {

inline bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// How many bytes of `text` are UTF-8: where the first sequence stands that is not, or all of them.
inline std::size_t utf8_length(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t bytes = first_character(text.substr(i)).bytes;
    if (bytes == 0) return i;
    i += bytes;
  }
  return text.size();
}

inline bool is_utf8(std::string_view text) { return utf8_length(text) == text.size(); }

/// `c` is at most U+10FFFF and no surrogate: whoever cannot know asks first.
inline void append_utf8(std::string& text, std::uint32_t c) {
  const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) {
    byte(0xc0 | c >> 6);
  } else {
    if (c < 0x10000)
      byte(0xe0 | c >> 12);
    else
      byte(0xf0 | c >> 18), byte(0x80 | (c >> 12 & 0x3f));
    byte(0x80 | (c >> 6 & 0x3f));
  }
  byte(0x80 | (c & 0x3f));
}

}  // namespace sagekit
