#include "verify/abi/python_abi.hpp"

#include "spec/symbol_lists.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace {

bool is_python_symbol(std::string_view symbol) {
  if (symbol.starts_with("PyInit_") || symbol.starts_with("PyModExport_")) return false;  // another module's
  return symbol.starts_with("Py") || symbol.starts_with("_Py");
}

/// "cp310" -> 3.10; nothing for py3 and others.
std::optional<VersionNumber> version_of_tag(std::string_view tag) {
  if (!tag.starts_with("cp") || tag.size() < 4 || !is_digits(tag.substr(2))) return {};
  const auto number = parse_version_number(std::string(tag.substr(2, 1)) + "." + std::string(tag.substr(3)));
  return number ? std::optional(*number) : std::nullopt;
}

/// "3.9" of ">=3.9,<4".
std::optional<VersionNumber> lower_bound(const std::string& range) {
  for (const auto& part : split(range, ',')) {
    const auto term = trim(part);
    if (!term.starts_with(">=") && !term.starts_with("~=")) continue;
    const auto number = parse_version_number(trim(term.substr(2)));
    if (number) return VersionNumber(*number);
  }
  return {};
}

}  // namespace

std::set<std::string> python_symbols(const Subject& subject, const MemberFacts& member) {
  std::set<std::string> symbols;
  if (member.pe)
    for (const auto& [library, names] : member.pe->imported)
      if (python_of_library(library)) symbols.insert(names.begin(), names.end());
  if (!member.elf) return symbols;
  for (const auto& symbol : member.elf->undefined)
    if (is_python_symbol(symbol) && !std::ranges::binary_search(member.elf->undefined_weak, symbol))
      symbols.insert(symbol);
  if (symbols.empty()) return symbols;
  for (const auto& library : member.elf->needed)
    if (const auto* own = subject.find_library(library))
      for (const auto& symbol : own->elf->exports) symbols.erase(symbol);
  return symbols;
}

StableUse stable_use(const std::set<std::string>& symbols) {
  StableUse use;
  for (const auto& symbol : symbols)
    if (const auto since = stable_abi_since(symbol))
      use.since.emplace(symbol, *since);
    else
      use.outside.insert(symbol);
  return use;
}

std::optional<VersionNumber> oldest_promised_python(const Subject& subject) {
  std::optional<VersionNumber> highest;
  for (const auto& tag : subject.name.python)
    if (const auto version = version_of_tag(tag); version && (!highest || *highest < *version)) highest = version;
  if (highest || subject.wheel == nullptr) return highest;
  return lower_bound(subject.wheel->requires_python);
}

bool is_for_abi3t_pythons(const WheelName& name) {
  const auto first = parse_version_number("3.15");
  return first && !name.python.empty() && std::ranges::all_of(name.python, [&](const std::string& tag) {
           const auto version = version_of_tag(tag);
           return version && *first <= *version;
         });
}

}  // namespace sagekit
