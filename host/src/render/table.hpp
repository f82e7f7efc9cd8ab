#pragma once
// Left-aligned columns for people.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit::host {

/// Rows of one table; the first is its heading. Trailing blanks are dropped, colour codes do not count as width. The
/// last column is wrapped into `width` columns, under itself where there is room for it.
using Rows = std::vector<std::vector<std::string>>;
std::string table(const Rows& rows, std::string_view indent = "  ", std::size_t width = 0);

}  // namespace sagekit::host
