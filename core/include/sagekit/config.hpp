#pragma once
// sagekit.toml (docs/configuration.md): what a project says once instead of with flags every time.

#include <sagekit/diagnostic.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/overrides.hpp>
#include <sagekit/spec.hpp>

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// A key that has the name and the meaning of the flag "--KEY".
struct ConfigValue {
  std::string key;                 ///< "arch"
  std::vector<std::string> words;  ///< as the flag takes them, one by one; never empty. Of `true` it is {""}
  SourceLocation where;
};

/// A row [[scheme]]: names of wheels that this project writes and reads besides those that are known.
struct ConfigScheme {
  NamingScheme scheme;
  SourceLocation where;
};

struct Config {
  std::string origin;                   ///< the file; "" = there is none
  std::vector<ConfigValue> values;      ///< keys that are false are left out: that is what holds without them
  std::vector<ConfigScheme> schemes;    ///< their templates are not looked at here
  std::vector<CellOverride> overrides;  ///< in the order of the file: of two that match a cell the later one decides
};

/// Reads the text of a sagekit.toml strictly. Paths in it are relative to its folder: they come out joined to that of
/// `origin`. Diagnostics: CFG001 not TOML, CFG003 missing key, CFG004 unknown key, CFG005 wrong type, CFG006 a value
/// that cannot be, CFG008 a key that cannot differ between cells.
SAGEKIT_API std::expected<Config, Diagnostics> parse_config(std::string_view text, std::string_view origin);

/// The sagekit.toml that holds in `folder` (absolute): its own, else the nearest of the folders above it up to the root
/// of its repository, the first that has a `.git`. Outside of a repository only its own. "" = none.
SAGEKIT_API std::filesystem::path find_config(const std::filesystem::path& folder);

SAGEKIT_API std::string config_json_schema();

}  // namespace sagekit
