#include "verify/claims/requirement.hpp"

#include "support/text.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>

namespace sagekit {

std::string requirement_name(std::string_view requirement) {
  const auto end = requirement.find_first_of(" \t[(<>=!~;@");
  return normalized_project(requirement.substr(0, end));
}

std::string requirement_range(std::string_view requirement) {
  requirement = requirement.substr(0, requirement.find(';'));
  const auto begin = requirement.find_first_of("<>=!~");
  if (begin == std::string_view::npos) return {};
  return replace_all(replace_all(trim(requirement.substr(begin)), ")", ""), " ", "");
}

const std::string* find_requirement(const std::vector<std::string>& requirements, std::string_view name) {
  const auto found = std::ranges::find(requirements, name, requirement_name);
  return found == requirements.end() ? nullptr : &*found;
}

}  // namespace sagekit
