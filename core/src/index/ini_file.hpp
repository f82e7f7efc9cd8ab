#pragma once
// pip's configuration files: the dialect of Python's RawConfigParser, which pip reads them with.

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct IniEntry {
  std::string section;  ///< "global"
  std::string key;      ///< lower case, "_" as "-": "index-url"
  std::string value;    ///< lines joined by "\n"
  int line = 0;         ///< from 1
};

struct IniFault {
  int line = 0;
  std::string why;
};

/// `key = value` or `key: value` below `[section]`; deeper indented lines go on; lines that start with # or ; are
/// comments. What Python refuses is refused: text before a section, a line without = or :, a key twice in a section.
std::expected<std::vector<IniEntry>, IniFault> read_ini(std::string_view text);

}  // namespace sagekit
