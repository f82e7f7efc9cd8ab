#pragma once
// The little JSON that the host writes itself; core writes the rest.

#include <string>
#include <string_view>

namespace sagekit::host {

/// With quotes. U+FFFD stands for each byte that is no UTF-8, as in what core writes: names of files are bytes.
std::string json_string(std::string_view text);

}  // namespace sagekit::host
