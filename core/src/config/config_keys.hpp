#pragma once
// The keys of sagekit.toml: the reader and the JSON Schema are made of this table.

#include <string_view>
#include <vector>

namespace sagekit {

enum class ConfigForm {
  name,     ///< a word without a path: a file of the working copy must not become code that runs
  word,     ///< a string
  words,    ///< a list of strings
  arches,   ///< an arch list: a string, or a list of its parts
  path,     ///< a file or folder
  policy,   ///< one of its names, or a file
  sources,  ///< words, of which "folder:DIR" has a path
  count,    ///< an integer of 1 or more
  on,       ///< a boolean
};

struct ConfigKey {
  std::string_view name;  ///< that of the flag
  ConfigForm form;
  std::string_view about;
  std::string_view for_all = {};  ///< why it cannot differ between cells; "" = it can
};

/// In the order of docs/configuration.md.
const std::vector<ConfigKey>& config_keys();
/// Those of [[overrides]] beside `select` and `inherit`; `merges` of those that `inherit` may name.
const std::vector<ConfigKey>& override_keys();
bool merges(const ConfigKey& key);

}  // namespace sagekit
