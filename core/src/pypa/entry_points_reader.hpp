#pragma once
// entry_points.txt: an INI file with "=" (entry points specification), read as Python's configparser reads it.

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct EntryPoint {
  std::string group, name, value;
};

struct EntryPointsText {
  std::vector<EntryPoint> entries;  ///< in file order
  std::vector<std::string>
      faults;  ///< what configparser refuses: no section, no "=", a section or name twice, no UTF-8
};

EntryPointsText read_entry_points(std::string_view text);

/// Letters, digits, "_", "." and "-": what a command's file may be named.
bool is_entry_point_name(std::string_view name);
/// "package.module:object.attribute", with extras in brackets or without.
bool is_object_reference(std::string_view value);

}  // namespace sagekit
