#pragma once
// torch/version.py, read without running it.

#include <string>
#include <string_view>

namespace sagekit {

/// The quoted value of `name = '...'` or `name: Optional[str] = '...'`; "" for None or nothing.
std::string python_string(std::string_view text, std::string_view name);

}  // namespace sagekit
