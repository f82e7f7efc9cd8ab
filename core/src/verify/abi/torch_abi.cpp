#include "verify/abi/torch_abi.hpp"

#include "pypa/requirement_reader.hpp"
#include "spec/symbol_lists.hpp"
#include "support/text.hpp"
#include "verify/claims/declared_torch.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace sagekit {

namespace {

/// Itanium C++ ABI: a nested name, or a vtable, typeinfo or guard of one, that begins with one of torch's namespaces.
bool is_torch_cpp(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return false;
  symbol.remove_prefix(2);
  for (const std::string_view special : {"TV", "TI", "TS", "GV"})
    if (symbol.starts_with(special)) {
      symbol.remove_prefix(2);
      break;
    }
  if (!symbol.starts_with('N')) return false;
  symbol.remove_prefix(1);
  while (!symbol.empty() && std::string_view("KVrRO").find(symbol.front()) != std::string_view::npos)
    symbol.remove_prefix(1);
  return std::ranges::any_of(std::array<std::string_view, 4>{"3c10", "2at", "5torch", "6caffe2"},
                             [&](std::string_view name) { return symbol.starts_with(name); });
}

/// Microsoft's mangling ends a name with its namespaces, innermost first: ?what@Error@c10@@...
bool is_torch_cpp_windows(std::string_view symbol) {
  if (!symbol.starts_with('?')) return false;
  const auto name = symbol.substr(0, symbol.find("@@"));
  return std::ranges::any_of(std::array<std::string_view, 4>{"@c10", "@at", "@torch", "@caffe2"},
                             [&](std::string_view end) { return name.ends_with(end); });
}

bool is_torch_python(std::string_view symbol) { return symbol.starts_with("THP"); }

void sort_in(const std::string& symbol, TorchUse& use) {
  if (is_torch_cpp(symbol) || is_torch_cpp_windows(symbol) || is_torch_python(symbol)) {
    use.unstable.push_back(symbol);
  } else if (const auto since = torch_shim_since(symbol)) {
    use.stable.push_back(symbol);
    if (!use.since || *use.since < *since) use.since = *since, use.newest = symbol;
  }
}

bool same_minor(const VersionNumber& a, const VersionNumber& b) {
  return a.major() == b.major() && a.minor() == b.minor();
}

}  // namespace

TorchUse torch_use(const Subject& subject, const MemberFacts& member) {
  TorchUse use;
  if (member.pe)
    for (const auto& [library, names] : member.pe->imported)
      if (subject.find_library(library) == nullptr)
        for (const auto& symbol : names) sort_in(symbol, use);
  if (!member.elf) return use;
  std::set<std::string_view> others(member.elf->undefined_weak.begin(), member.elf->undefined_weak.end());
  for (const auto& library : member.elf->needed)
    if (const auto* own = subject.find_library(library))
      others.insert(own->elf->exports.begin(), own->elf->exports.end());
  for (const auto& symbol : member.elf->undefined)
    if (!others.contains(symbol)) sort_in(symbol, use);
  return use;
}

bool needs_torch_pin(const Subject& subject) {
  return std::ranges::any_of(subject.modules(),
                             [&](const auto& one) { return !torch_use(subject, *one.second).unstable.empty(); });
}

// A parameter list comes after the names, so "Ss" at the end, or behind a reference, is no part of an identifier.
bool wants_old_strings(const std::string& symbol) {
  return is_torch_cpp(symbol) && (symbol.ends_with("Ss") || symbol.find("RKSs") != std::string::npos);
}

bool wants_new_strings(const std::string& symbol) {
  return is_torch_cpp(symbol) && symbol.find("St7__cxx1112basic_string") != std::string::npos;
}

std::optional<std::string> TorchFingerprint::missing_in(const VersionNumber& release) const {
  for (const auto& [version, symbol] : lacks)
    if (same_minor(version, release)) return symbol;
  return {};
}

std::optional<TorchFingerprint> torch_fingerprint(const std::vector<std::string>& symbols) {
  const auto releases = known_torch_exports();
  std::vector<std::string> missing(releases.size());
  for (const auto& symbol : symbols) {
    const auto has = torch_releases_with(symbol);
    for (std::size_t i = 0; i < has.size() && i < missing.size(); ++i)
      if (!has[i] && missing[i].empty()) missing[i] = symbol;
  }
  TorchFingerprint print;
  for (std::size_t i = 0; i < releases.size(); ++i)
    if (missing[i].empty())
      print.fits.push_back(releases[i]);
    else
      print.lacks.emplace_back(releases[i], missing[i]);
  if (print.lacks.empty()) return {};
  return print;
}

std::optional<VersionNumber> oldest_torch(const Subject& subject) {
  if (const auto declared = declared_torch(subject))
    if (const auto number = parse_version_number(declared->version)) return *number;
  const auto& lines = subject.wheel != nullptr ? subject.wheel->requires_dist : subject.claims.requires_dist;
  const auto* requirement = find_requirement(lines, "torch");
  if (requirement == nullptr) return {};
  for (const auto& term : split(requirement_range(*requirement), ',')) {
    if (!term.starts_with(">=") && !term.starts_with("~=")) continue;
    const auto number = parse_version_number(std::string_view(term).substr(2));
    if (number) return *number;
  }
  return {};
}

}  // namespace sagekit
