// Two schemas are made of the tables that their readers use; the others are the files of core/schemas.
#include "support/embedded_text.hpp"
#include "support/json.hpp"

#include <sagekit/config.hpp>
#include <sagekit/schema.hpp>
#include <sagekit/spec.hpp>

#include <algorithm>
#include <utility>

namespace sagekit {

std::span<const EmbeddedText> schema_texts();

std::string json_schema(std::string_view name) {
  if (name == "plugin") return spec_json_schema();
  if (name == "config") return config_json_schema();
  const auto texts = schema_texts();
  const auto found = std::ranges::find(texts, name, &EmbeddedText::name);
  return found == texts.end() ? std::string() : std::string(found->text);
}

std::vector<JsonSchema> json_schemas() {
  std::vector<JsonSchema> schemas{{"config", "sagekit.toml"}, {"plugin", "plugin.toml"}};
  for (const auto& [name, text] : schema_texts())
    schemas.push_back({std::string(name), parse_json(text).value("title", "")});
  std::ranges::sort(schemas, {}, &JsonSchema::name);
  return schemas;
}

}  // namespace sagekit
