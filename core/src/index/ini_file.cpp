#include "index/ini_file.hpp"

#include "support/text.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace sagekit {

std::expected<std::vector<IniEntry>, IniFault> read_ini(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<IniEntry> entries;
  std::set<std::pair<std::string, std::string>> seen;
  std::set<std::string> sections;
  std::string section;
  std::size_t indent = 0;  // of the last key
  bool open = false;       // the last key may go on
  int number = 0;
  for (const auto& raw : split(text, '\n')) {
    ++number;
    const std::string line = trim(raw);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    const std::size_t here = raw.find_first_not_of(" \t\r\f\v");
    if (open && here > indent) {
      entries.back().value += (entries.back().value.empty() ? "" : "\n") + line;
      continue;
    }
    if (line[0] == '[' && line.find(']') != line.npos) {
      section = line.substr(1, line.find(']') - 1);
      open = false;
      if (!sections.insert(section).second) return std::unexpected(IniFault{number, "section [" + section + "] again"});
      continue;
    }
    if (sections.empty()) return std::unexpected(IniFault{number, "it stands before any [section]"});
    const std::size_t equals = line.find_first_of("=:");
    if (equals == line.npos || equals == 0) return std::unexpected(IniFault{number, "it is no \"key = value\""});
    const std::string key = replace_all(lower(trim(std::string_view(line).substr(0, equals))), "_", "-");
    if (!seen.emplace(section, key).second) return std::unexpected(IniFault{number, "key " + key + " again"});
    entries.push_back({section, key, trim(std::string_view(line).substr(equals + 1)), number});
    indent = here;
    open = true;
  }
  return entries;
}

}  // namespace sagekit
