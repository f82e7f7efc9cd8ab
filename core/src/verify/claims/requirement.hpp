#pragma once
// Lines of Requires-Dist, as far as the checks need them.

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// "torch" of "torch==2.11.*; sys_platform == ...", in normal form.
std::string requirement_name(std::string_view requirement);
/// What stands behind the name: "==2.11.*"; "" = nothing.
std::string requirement_range(std::string_view requirement);
/// The first one of that name; null when there is none.
const std::string* find_requirement(const std::vector<std::string>& requirements, std::string_view name);

}  // namespace sagekit
