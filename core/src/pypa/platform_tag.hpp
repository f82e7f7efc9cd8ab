#pragma once
// Tags of wheels: platforms taken apart, and which tags the public index and installers know.

#include <string>
#include <string_view>

namespace sagekit {

/// A wheel's platform tag, taken apart: "manylinux_2_28_x86_64".
struct PlatformTag {
  enum class System { linux, manylinux, musllinux, windows, macos, any, unknown };
  System system = System::unknown;
  std::string machine;  ///< "x86_64", "aarch64"; "" = any
  std::string libc;     ///< "2.28" of manylinux and musllinux
};

PlatformTag parse_platform_tag(std::string_view tag);

/// Does the public index take it, as its upload form judges tags (warehouse, forklift/legacy.py)?
bool is_index_platform_tag(std::string_view tag);

/// A Python tag, taken apart: "cp312" is {"cp", 3, 12}, "py3" has a major number alone.
struct PythonTag {
  std::string implementation;
  int major = 0, minor = -1;
};

PythonTag read_python_tag(std::string_view tag);

/// Does Python `major`.`minor` take a wheel of that tag whose ABI is "none"? "py310" is for 3.10 and newer, "cp310" for
/// 3.10 alone (packaging: `compatible_tags`).
bool takes_without_abi(const PythonTag& tag, int major, int minor);

/// Could any installer ever ask for this Python tag with this ABI tag? Those that are not known here could be anything.
bool can_be_tags(std::string_view python, std::string_view abi);

}  // namespace sagekit
