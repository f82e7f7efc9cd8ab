#include "spec/symbol_lists.hpp"

#include "support/text.hpp"

namespace sagekit {

// Written at build time by cmake/EmbedText.cmake.
extern const std::string_view k_python_stable_abi_txt;
extern const std::string_view k_torch_shims_txt;
extern const std::string_view k_torch_symbols_txt;

namespace {

/// What stands behind `name` on its line of a list in byte order; nothing when no line is its. The comments at the top
/// begin with '#', which is less than any symbol.
std::optional<std::string_view> find_line(std::string_view list, std::string_view name) {
  std::size_t low = 0, high = list.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    const std::size_t before = middle == 0 ? std::string_view::npos : list.rfind('\n', middle - 1);
    const std::size_t begin = before == std::string_view::npos || before < low ? low : before + 1;
    const std::size_t end = std::min(list.find('\n', begin), list.size());
    const auto line = list.substr(begin, end - begin);
    const auto word = line.substr(0, line.find(' '));
    if (word == name) return line.substr(std::min(line.size(), word.size() + 1));
    if (word < name)
      low = end + 1;
    else
      high = begin;
  }
  return {};
}

std::optional<VersionNumber> version_at(std::string_view list, std::string_view name) {
  const auto rest = find_line(list, name);
  if (!rest) return {};
  const auto number = parse_version_number(*rest);
  return number ? std::optional(*number) : std::nullopt;
}

std::vector<std::string> names_until(std::string_view list, const VersionNumber& version) {
  std::vector<std::string> names;
  for (const auto& line : split(list, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    const auto blank = std::min(line.find(' '), line.size());
    const auto since = parse_version_number(std::string_view(line).substr(std::min(blank + 1, line.size())));
    if (since && *since <= version) names.push_back(line.substr(0, blank));
  }
  return names;
}

}  // namespace

std::optional<VersionNumber> stable_abi_since(std::string_view symbol) {
  return version_at(k_python_stable_abi_txt, symbol);
}

std::optional<VersionNumber> torch_shim_since(std::string_view symbol) { return version_at(k_torch_shims_txt, symbol); }

std::vector<std::string> torch_shims_until(const VersionNumber& torch) { return names_until(k_torch_shims_txt, torch); }

std::vector<std::string> stable_abi_until(const VersionNumber& python) {
  return names_until(k_python_stable_abi_txt, python);
}

std::vector<VersionNumber> known_torch_exports() {
  constexpr std::string_view k_columns = "# of: ";
  std::vector<VersionNumber> releases;
  const auto begin = k_torch_symbols_txt.find(k_columns);
  if (begin == std::string_view::npos) return releases;
  const auto line = k_torch_symbols_txt.substr(begin + k_columns.size());
  for (const auto& word : split(line.substr(0, line.find('\n')), ' '))
    if (const auto number = parse_version_number(word)) releases.push_back(*number);
  return releases;
}

std::vector<bool> torch_releases_with(std::string_view symbol) {
  std::vector<bool> has;
  for (const char digit : find_line(k_torch_symbols_txt, symbol).value_or(std::string_view()))
    has.push_back(digit == '1');
  return has;
}

}  // namespace sagekit
