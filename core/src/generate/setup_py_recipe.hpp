#pragma once
// What a machine without sagekit needs to build a plan's cells by upstream's setup.py.

#include "generate/kinds.hpp"

#include <string>

namespace sagekit {

/// The recipe as JSON: sources by commit with their edits, cells with requirements and environment. `platform`: of the
/// cells of all profiles, or of the request's. "" = there is no such cell.
Result<std::string> setup_py_recipe(const PlannedVariant& variant, const std::string& platform);

/// {"12.8": "12.8.1", ...} as Python and JSON write it.
std::string toolkit_table();

}  // namespace sagekit
