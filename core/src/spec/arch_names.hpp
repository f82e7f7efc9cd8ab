#pragma once

#include "support/text.hpp"

#include <sagekit/arch.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// "9.0a, 12.0+PTX"
inline std::string arch_names(const std::vector<ArchRequest>& arches, std::string_view separator = ", ") {
  std::vector<std::string> names;
  for (const auto& arch : arches) names.push_back(to_string(arch));
  return join(names, separator);
}

}  // namespace sagekit
