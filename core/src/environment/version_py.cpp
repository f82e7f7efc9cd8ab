#include "environment/version_py.hpp"

#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

std::string python_string(std::string_view text, std::string_view name) {
  for (const auto& line : split(text, '\n')) {
    if (!line.starts_with(name)) continue;
    const std::string_view rest = std::string_view(line).substr(name.size());
    if (rest.empty() || (rest[0] != ' ' && rest[0] != ':' && rest[0] != '=')) continue;
    const std::size_t open = rest.find_first_of("'\"", std::min(rest.find('='), rest.size()));
    if (open == std::string_view::npos) continue;
    const std::size_t close = rest.find(rest[open], open + 1);
    if (close != std::string_view::npos) return std::string(rest.substr(open + 1, close - open - 1));
  }
  return {};
}

}  // namespace sagekit
