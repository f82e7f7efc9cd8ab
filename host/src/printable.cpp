#include "printable.hpp"

#include <sagekit/utf8.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <random>

namespace sagekit::host {

namespace {

/// Unicode 15, table "Bidi_Control", and the two characters that end a line for some terminals.
bool turns_or_ends_lines(std::uint32_t code) {
  return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(std::string_view text, bool keep_lines) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character first = first_character(text);
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
