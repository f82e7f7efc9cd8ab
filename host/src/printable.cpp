#include "printable.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <random>

namespace sagekit::host {

namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: no UTF-8
};

/// The first character; overlong forms and surrogates are no UTF-8.
Character first_character(std::string_view text) {
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
  return wrong ? Character{} : Character{code, bytes};
}

/// Unicode 15, table "Bidi_Control", and the two characters that end a line for some terminals.
bool turns_or_ends_lines(std::uint32_t code) {
  return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(std::string_view text, bool keep_lines) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Character first = first_character(text);
    const std::size_t bytes = first.bytes == 0 ? 1 : first.bytes;
    const std::uint32_t code = first.code;
    if (first.bytes == 0)
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(text[0])));
    else if (!keep_lines && code == '\n')
      result += "\\n";
    else if ((code < 0x20 && !(keep_lines && (code == '\n' || code == '\t'))) || code == 0x7f)
      result += fmt::format("\\x{:02x}", code);
    else if ((code >= 0x80 && code < 0xa0) || turns_or_ends_lines(code))
      result += fmt::format("\\u{:04x}", code);
    else
      result += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return result;
}

/// What marks our own codes: a number that no file can know. Tables see a terminal code like any other.
const std::string& mark() {
  static const std::string text = fmt::format(";{}m", std::random_device()());
  return text;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, true); }
std::string one_line(std::string_view text) { return escaped(text, false); }

std::string colored(std::string_view code, std::string_view text) {
  return fmt::format("\x1b[{}{}{}\x1b[0{}", code, mark(), text, mark());
}

std::string printable_with_color(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto at = text.find(mark());
    if (at == std::string_view::npos) return result + printable(text);
    const auto code = text.rfind("\x1b[", at);
    result += printable(text.substr(0, code));
    result += fmt::format("\x1b[{}m", text.substr(code + 2, at - code - 2));
    text.remove_prefix(at + mark().size());
  }
  return result;
}

}  // namespace sagekit::host
