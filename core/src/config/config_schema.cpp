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
    case ConfigForm::arches: {
      const Json list = {{"type", "array"}, {"minItems", 1}, {"items", filled}};
      return {{"anyOf", {filled, list}}};
    }
    case ConfigForm::count: return {{"type", "integer"}, {"minimum", 1}};
    case ConfigForm::on: return {{"type", "boolean"}};
    case ConfigForm::word:
    case ConfigForm::path:
    case ConfigForm::policy: break;
  }
  return filled;
}

Json described(const ConfigKey& key) {
  auto shape = shape_of(key.form);
  shape["description"] = key.about;
  return shape;
}

Json schemes_shape() {
  const auto word = shape_of(ConfigForm::word);
  Json properties = Json::object();
  const auto describe = [&](const char* key, const char* about, const Json& shape) {
    properties[key] = shape;
    properties[key]["description"] = about;
  };
  describe("name", "for --naming", word);
  describe("version", "template of the whole version: \"{version}+cu{cuda_digits}\"", word);
  describe("build", "template of the build tag", {{"type", "string"}});
  describe("folder", "template of the folder that a wheel lies in", {{"type", "string"}});
  describe("source", "who names wheels so", {{"type", "string"}});
  return {{"type", "array"},
          {"description", "naming schemes beside those that are known"},
          {"items",
           {{"type", "object"},
            {"additionalProperties", false},
            {"required", {"name", "version"}},
            {"properties", std::move(properties)}}}};
}

Json overrides_shape() {
  const auto words = shape_of(ConfigForm::words);
  Json properties = {{"select",
                      {{"anyOf", {words.at("items"), words}},
                       {"description", "globs over cell ids without the suffix of an arch set; !GLOB excludes"}}}};
  Json inherit = Json::object();
  for (const auto& key : override_keys()) {
    properties[std::string(key.name)] = described(key);
    if (merges(key)) inherit[std::string(key.name)] = {{"enum", {"none", "append", "prepend"}}};
  }
  properties["inherit"] = {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(inherit)}};
  return {{"type", "array"},
          {"description", "what holds for some cells only; of two that match a cell the later one decides"},
          {"items",
           {{"type", "object"},
            {"additionalProperties", false},
            {"required", {"select"}},
            {"properties", std::move(properties)}}}};
}

}  // namespace

std::string config_json_schema() {
  Json properties = Json::object();
  for (const auto& key : config_keys()) properties[std::string(key.name)] = described(key);
  properties["scheme"] = schemes_shape();
  properties["overrides"] = overrides_shape();
  return json_text({{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                    {"title", "sagekit.toml"},
                    {"type", "object"},
                    {"additionalProperties", false},
                    {"properties", std::move(properties)}});
}

}  // namespace sagekit
