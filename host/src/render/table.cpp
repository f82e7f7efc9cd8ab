#include "render/table.hpp"

#include "render/text.hpp"

#include <algorithm>

namespace sagekit::host {

std::string table(const Rows& rows, std::string_view indent, std::size_t width) {
  constexpr std::size_t k_gap = 2, k_least = 24;
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line(indent);
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      line += row[i] + std::string(widths[i] - display_width(row[i]) + k_gap, ' ');
    if (row.empty()) {
      text += "\n";
      continue;
    }
    const auto column = display_width(line);
    const bool wraps = width > 0 && row.size() == widths.size();
    // Where too little is left beside the other columns the rest stands below them.
    const auto under = column + k_least <= width ? column : indent.size() + 4;
    text += wrap(row.back(), line, std::string(under, ' '), wraps ? width : std::string::npos);
  }
  return text;
}

}  // namespace sagekit::host
