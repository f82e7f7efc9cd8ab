#include "spec/abi_words.hpp"

#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/version_number.hpp>

namespace sagekit {
namespace {

bool is_release(std::string_view text) { return parse_version_number(text).has_value(); }

bool is_python_minor(std::string_view text) {
  return text.starts_with("3.") && is_digits(text.substr(2)) && text.size() <= 4 &&
         (text.size() == 3 || text[2] != '0');
}

}  // namespace

std::optional<TorchWord> parse_torch_word(std::string_view text) {
  constexpr std::string_view first = ">=", last = ",stable";
  if (!text.starts_with(first)) return is_release(text) ? std::optional(TorchWord{std::string(text)}) : std::nullopt;
  if (!text.ends_with(last)) return {};
  const auto version = text.substr(first.size(), text.size() - first.size() - last.size());
  // The interface grows with minor releases only.
  const auto number = parse_version_number(version);
  if (!number || split(version, '.').size() != 2) return {};
  return TorchWord{std::string(version), true};
}

std::optional<PythonWord> parse_python_word(std::string_view text) {
  constexpr std::string_view first = "abi3>=";
  const auto limited = text.starts_with(first);
  const auto version = limited ? text.substr(first.size()) : text;
  if (!is_python_minor(version)) return {};
  return PythonWord{std::string(version), limited};
}

std::string limited_api_number(std::string_view python) {
  const auto number = parse_version_number(python);
  return number ? fmt::format("0x{:02X}{:02X}0000", number->major(), number->minor()) : std::string();
}

std::string torch_target_number(std::string_view torch) {
  const auto number = parse_version_number(torch);
  return number ? fmt::format("0x{:02x}{:02x}000000000000", number->major(), number->minor()) : std::string();
}

}  // namespace sagekit
