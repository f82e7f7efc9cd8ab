#pragma once
// The characters of a text that ought to be UTF-8 and, as the name of a file or what a program prints, need not be.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sagekit {

struct Utf8Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: what stands there is no UTF-8
};

/// The first of a text that is not empty. Well-formed by Unicode table 3-7: no overlong forms, no surrogates, nothing
/// above U+10FFFF.
inline Utf8Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xc2 && lead < 0xe0   ? 2
                            : lead >= 0xe0 && lead < 0xf0 ? 3
                            : lead >= 0xf0 && lead < 0xf5 ? 4
                                                          : 0;
  if (bytes == 0 || bytes > text.size()) return {};
  std::uint32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool wrong = (bytes == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) ||
                     (bytes == 4 && (code < 0x10000 || code > 0x10ffff));
  return wrong ? Utf8Character{} : Utf8Character{code, bytes};
}

}  // namespace sagekit
