#pragma once
// JSON Schemas (draft 2020-12) of the files that are read and of the documents that are written.

#include <sagekit/export.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct JsonSchema {
  std::string name;   ///< "plugin", "verify"
  std::string about;  ///< "plugin.toml", "sagekit verify --json": its title
};

/// Sorted by name.
SAGEKIT_API std::vector<JsonSchema> json_schemas();

/// The schema's text; "" = there is none of that name.
SAGEKIT_API std::string json_schema(std::string_view name);

}  // namespace sagekit
