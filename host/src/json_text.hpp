#pragma once
// The little JSON that the host writes itself; core writes the rest.

#include <string>
#include <string_view>

namespace sagekit::host {

std::string json_string(std::string_view text);

}  // namespace sagekit::host
