#pragma once
// What a machine without sagekit needs to build a plan's cells by upstream's setup.py.

#include "generate/kinds.hpp"

#include <string>
#include <vector>

namespace sagekit {

/// The recipe as JSON: sources by commit with their edits, cells of the profiles with requirements and environment, for
/// the request's platforms.
Result<std::string> setup_py_recipe(const PlannedVariant& variant, const std::vector<std::string>& profiles);

/// {"12.8": "12.8.1", ...} as Python and JSON write it.
std::string toolkit_table();

}  // namespace sagekit
