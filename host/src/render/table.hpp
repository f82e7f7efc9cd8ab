#pragma once
// Left-aligned columns for people.

#include <string>
#include <vector>

namespace sagekit::host {

/// Rows of one table; the first is its heading. Trailing blanks are dropped, colour codes do not count as width.
using Rows = std::vector<std::vector<std::string>>;
std::string table(const Rows& rows, std::string_view indent = "  ");

}  // namespace sagekit::host
