#include "pypa/entry_points_reader.hpp"

#include "support/utf8.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace sagekit {

namespace {

constexpr std::size_t k_max_faults = 20;

/// What Python's \w takes, without its table: ASCII, and every character beyond.
bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_dotted_name(std::string_view text) {
  const auto parts = split(text, '.');
  return std::ranges::all_of(parts, [](const std::string& part) {
    return !part.empty() && (part[0] < '0' || part[0] > '9') && std::ranges::all_of(part, is_word);
  });
}

}  // namespace

EntryPointsText read_entry_points(std::string_view text) {
  EntryPointsText found;
  const auto fault = [&](std::string what) {
    if (found.faults.size() < k_max_faults) found.faults.push_back(std::move(what));
  };
  if (!is_utf8(text)) fault("it is not UTF-8");
  std::set<std::string> groups;
  std::set<std::pair<std::string, std::string>> names;
  std::string group;
  std::size_t indent = 0;
  bool in_group = false;
  bool in_entry = false;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view whole = text.substr(begin, end - begin);
    begin = end + 1;
    const std::string line = trim(whole);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    const std::size_t at = whole.find(line[0]);
    if (in_entry && at > indent) {
      found.entries.back().value += "\n" + line;
      continue;
    }
    indent = at;
    const std::size_t close = line.rfind(']');
    if (line[0] == '[' && close != std::string::npos && close > 1) {
      group = line.substr(1, close - 1);
      in_group = true;
      in_entry = false;
      if (!groups.insert(group).second) fault(fmt::format("section [{}] is there twice", group));
      continue;
    }
    const std::size_t equals = line.find('=');
    if (!in_group || equals == std::string::npos || equals == 0) {
      fault(fmt::format("line {} is {}", number + 1, in_group ? "no \"name = value\"" : "before the first section"));
      in_entry = false;
      continue;
    }
    EntryPoint entry{group, trim(line.substr(0, equals)), trim(line.substr(equals + 1))};
    if (!names.emplace(group, entry.name).second) fault(fmt::format("[{}] has {} twice", group, entry.name));
    found.entries.push_back(std::move(entry));
    in_entry = true;
  }
  return found;
}

bool is_entry_point_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return is_word(c) || c == '.' || c == '-'; });
}

bool is_object_reference(std::string_view value) {
  std::string text = trim(value);
  if (text.ends_with(']')) {
    const auto open = text.find('[');
    if (open == std::string::npos) return false;
    text = trim(text.substr(0, open));
  }
  const auto colon = text.find(':');
  if (colon == std::string::npos) return is_dotted_name(text);
  return is_dotted_name(trim(text.substr(0, colon))) && is_dotted_name(trim(text.substr(colon + 1)));
}

}  // namespace sagekit
