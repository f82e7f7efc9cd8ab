#include "elf/symbol_name.hpp"

#include "support/format.hpp"

#include <array>
#include <utility>

namespace sagekit {

namespace {

/// Itanium C++ ABI, 5.1: <source-name> is its length and its letters.
bool take_word(std::string_view& rest, std::string& out) {
  std::size_t length = 0, digits = 0;
  while (digits < rest.size() && digits < 5 && rest[digits] >= '0' && rest[digits] <= '9')
    length = length * 10 + static_cast<std::size_t>(rest[digits++] - '0');
  if (digits == 0 || length == 0 || length > rest.size() - digits) return false;
  out += (out.empty() || out.ends_with(' ') ? "" : "::") + std::string(rest.substr(digits, length));
  rest.remove_prefix(digits + length);
  return true;
}

/// The <operator-name>s that the C++ library exports.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> k_operators{
    {{"nw", "operator new"}, {"na", "operator new[]"}, {"dl", "operator delete"}, {"da", "operator delete[]"}}};

}  // namespace

std::string readable_name(std::string_view symbol) {
  std::string_view rest = symbol;
  if (!rest.starts_with("_Z")) return std::string(symbol);
  rest.remove_prefix(2);
  for (const auto& [code, name] : k_operators)
    if (rest.starts_with(code)) return std::string(name);
  std::string out;
  if (rest.starts_with("TV"))
    out = "vtable of ";
  else if (rest.starts_with("TI"))
    out = "typeinfo of ";
  if (!out.empty()) rest.remove_prefix(2);
  const bool nested = rest.starts_with('N');
  while (!rest.empty() && std::string_view("NKVrRO").find(rest.front()) != std::string_view::npos)
    rest.remove_prefix(1);
  if (rest.starts_with("St")) {
    out += "std";
    rest.remove_prefix(2);
  }
  const auto begun = out.size();
  while (take_word(rest, out) && (nested || begun > 0)) {
  }
  return out.size() > begun ? out : std::string(symbol);
}

std::string name_for_people(std::string_view symbol) {
  const auto words = readable_name(symbol);
  return words == symbol ? words : fmt::format("{} ({})", words, symbol);
}

}  // namespace sagekit
