#include "archive/name_fold.hpp"

#include "support/text.hpp"
#include "support/utf8.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace sagekit {

namespace {

/// A combining mark, the lower-case letters that it changes, and what they become (Unicode's canonical decompositions
/// of U+00E0 to U+017F).
struct Mark {
  std::uint32_t mark;
  std::string_view letters;
  std::array<std::uint16_t, 12> composed;
};
constexpr auto k_marks = std::to_array<Mark>({
    {0x0300, "aeiou", {0xe0, 0xe8, 0xec, 0xf2, 0xf9}},
    {0x0301, "aeiouyclnrsz", {0xe1, 0xe9, 0xed, 0xf3, 0xfa, 0xfd, 0x107, 0x13a, 0x144, 0x155, 0x15b, 0x17a}},
    {0x0302, "aeioucghjswy", {0xe2, 0xea, 0xee, 0xf4, 0xfb, 0x109, 0x11d, 0x125, 0x135, 0x15d, 0x175, 0x177}},
    {0x0303, "anoiu", {0xe3, 0xf1, 0xf5, 0x129, 0x169}},
    {0x0304, "aeiou", {0x101, 0x113, 0x12b, 0x14d, 0x16b}},
    {0x0306, "aegiou", {0x103, 0x115, 0x11f, 0x12d, 0x14f, 0x16d}},
    {0x0307, "cegz", {0x10b, 0x117, 0x121, 0x17c}},
    {0x0308, "aeiouy", {0xe4, 0xeb, 0xef, 0xf6, 0xfc, 0xff}},
    {0x030a, "au", {0xe5, 0x16f}},
    {0x030b, "ou", {0x151, 0x171}},
    {0x030c, "cdelnrstz", {0x10d, 0x10f, 0x11b, 0x13e, 0x148, 0x159, 0x161, 0x165, 0x17e}},
    {0x0327, "cgklnrst", {0xe7, 0x123, 0x137, 0x13c, 0x146, 0x157, 0x15f, 0x163}},
    {0x0328, "aeiu", {0x105, 0x119, 0x12f, 0x173}},
});

std::uint32_t lower_letter(std::uint32_t c) {
  if (c >= 'A' && c <= 'Z') return c + 32;
  if (c >= 0xc0 && c <= 0xde && c != 0xd7) return c + 32;
  const bool even_is_upper = (c >= 0x100 && c <= 0x137) || (c >= 0x14a && c <= 0x177);
  const bool odd_is_upper = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e);
  return (even_is_upper && c % 2 == 0) || (odd_is_upper && c % 2 == 1) ? c + 1 : c;
}

/// The letter with the mark as one character; 0 when there is none.
std::uint32_t composed(std::uint32_t letter, std::uint32_t mark) {
  if (letter >= 0x80) return 0;
  for (const auto& row : k_marks) {
    if (row.mark != mark) continue;
    const auto at = row.letters.find(static_cast<char>(letter));
    return at == std::string_view::npos ? 0 : row.composed.at(at);
  }
  return 0;
}

/// The character at `at` of well-formed UTF-8, which moves behind it.
std::uint32_t next_character(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  std::uint32_t c = lead < 0x80 ? lead : lead < 0xe0 ? lead & 0x1f : lead < 0xf0 ? lead & 0x0f : lead & 0x07;
  for (; at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; ++at)
    c = c << 6 | (static_cast<unsigned char>(text[at]) & 0x3f);
  return c;
}

}  // namespace

std::string folded_name(std::string_view name) {
  if (is_ascii(name) || !is_utf8(name)) return lower(name);
  std::string folded;
  std::optional<std::uint32_t> previous;  // a letter that a mark may follow; NUL is a character like any other
  for (std::size_t at = 0; at < name.size();) {
    const std::uint32_t c = lower_letter(next_character(name, at));
    if (const std::uint32_t both = previous ? composed(*previous, c) : 0; both != 0) {
      previous = both;
      continue;
    }
    if (previous) append_utf8(folded, *previous);
    previous = c;
  }
  if (previous) append_utf8(folded, *previous);
  return folded;
}

}  // namespace sagekit
