#include "elf/loader_message.hpp"

#include "support/text.hpp"

namespace sagekit {

namespace {

using Kind = LoaderMessage::Kind;

/// The text between two others; "" when they are not there.
std::string between(std::string_view text, std::string_view from, std::string_view to) {
  const auto begin = text.find(from);
  if (begin == text.npos) return {};
  text.remove_prefix(begin + from.size());
  const auto end = to.empty() ? text.size() : text.find(to);
  return end == text.npos ? std::string() : trim(text.substr(0, end));
}

std::string_view first_word(std::string_view text) { return text.substr(0, text.find_first_of(" ,)")); }

}  // namespace

LoaderMessage read_loader_message(std::string_view message) {
  // "/lib/libc.so.6: version `GLIBC_2.38' not found (required by /x/m.so)"
  if (message.find("' not found (required by ") != message.npos)
    return {Kind::version, between(message, "version `", "'"), trim(message.substr(0, message.find(':')))};
  // "libfoo.so.1: cannot open shared object file: No such file or directory"
  if (const auto at = message.find(": cannot open shared object file"); at != message.npos) {
    const auto name = message.substr(0, at);
    return {Kind::library, trim(name.substr(name.find_last_of(' ') + 1)), {}};
  }
  // "/x/m.so: undefined symbol: _Z1f", also with ", version V_1" behind
  if (const auto at = message.find(": undefined symbol: "); at != message.npos)
    return {Kind::symbol, std::string(first_word(between(message, ": undefined symbol: ", ""))),
            trim(message.substr(0, at))};
  // musl: "Error loading shared library libfoo.so: No such file or directory (needed by /x/m.so)"
  if (const auto name = between(message, "Error loading shared library ", ":"); !name.empty())
    return {Kind::library, name, {}};
  // musl: "Error relocating /x/m.so: f: symbol not found"
  if (message.find(": symbol not found") != message.npos) {
    const auto rest = between(message, "Error relocating ", ": symbol not found");
    const auto colon = rest.rfind(": ");
    if (colon != rest.npos) return {Kind::symbol, rest.substr(colon + 2), rest.substr(0, colon)};
  }
  return {};
}

}  // namespace sagekit
