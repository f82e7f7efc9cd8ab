#pragma once
// JSON Schemas (draft 2020-12) of files and documents, beside that of plugin.toml, which core makes from its reader.
// tests/cli/schema_test.py holds real output to them.

#include <string_view>

namespace sagekit::host {

std::string_view policy_schema();  ///< verify --policy FILE
std::string_view lock_schema();    ///< sagekit.lock
std::string_view verify_schema();  ///< verify --json

}  // namespace sagekit::host
