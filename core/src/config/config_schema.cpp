#include "config/config_keys.hpp"
#include "support/json.hpp"

#include <sagekit/config.hpp>

namespace sagekit {

namespace {

Json shape_of(ConfigForm form) {
  const Json filled = {{"type", "string"}, {"pattern", "\\S"}};
  switch (form) {
    case ConfigForm::name: return {{"type", "string"}, {"pattern", "^[^/]*[^/\\s][^/]*$"}};
    case ConfigForm::words:
    case ConfigForm::sources: return {{"type", "array"}, {"minItems", 1}, {"items", filled}};
    case ConfigForm::count: return {{"type", "integer"}, {"minimum", 1}};
    case ConfigForm::on: return {{"type", "boolean"}};
    case ConfigForm::word:
    case ConfigForm::path:
    case ConfigForm::policy: break;
  }
  return filled;
}

}  // namespace

std::string config_json_schema() {
  Json properties = Json::object();
  for (const auto& key : config_keys()) {
    auto shape = shape_of(key.form);
    shape["description"] = key.about;
    properties[std::string(key.name)] = std::move(shape);
  }
  return json_text({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                    {"title", "sagekit.toml"},
                    {"type", "object"},
                    {"additionalProperties", false},
                    {"properties", std::move(properties)}});
}

}  // namespace sagekit
