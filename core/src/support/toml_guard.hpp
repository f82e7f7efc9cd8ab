#pragma once
// What may be given to toml11: it recurses by nesting, and 3.7 reads out of bounds where a string is not UTF-8.

#include <optional>
#include <string>
#include <string_view>

namespace sagekit {

struct TomlFault {
  std::string message;
  int line = 0, column = 0;
};

/// Why `text` is refused before it is parsed: larger than 1 MiB, not UTF-8, or brackets or dotted keys nested too deep.
std::optional<TomlFault> toml_fault(std::string_view text);

}  // namespace sagekit
