#include "spec/spec_schema_tables.hpp"
#include "support/json.hpp"

#include <sagekit/spec.hpp>

namespace sagekit {

namespace {

/// Writes the JSON Schema of one table (see spec_schema_tables.hpp for what a visitor is). Members are fresh values:
/// what they hold is the default.
class SchemaWriter {
 public:
  template <class T>
  static Json table(T& row) {
    SchemaWriter writer;
    describe(writer, row);
    return writer.object();
  }

  Json object() const {
    Json object = {{"type", "object"}, {"properties", m_properties}};
    if (!m_required.empty()) object["required"] = m_required;
    object["additionalProperties"] = false;
    return object;
  }

  void operator()(const Key& key, std::string& member) {
    Json shape = string_of(key.form, key.need == Need::required);
    if (!member.empty()) shape["default"] = member;
    add(key, std::move(shape));
  }
  void operator()(const Key& key, bool member) { add(key, {{"type", "boolean"}, {"default", member}}); }
  void operator()(const Key& key, int member) { add(key, {{"type", "integer"}, {"minimum", 1}, {"default", member}}); }
  void operator()(const Key& key, double) { add(key, amount()); }
  void mib(const Key& key, std::uint64_t) { add(key, amount()); }
  void mib_pair(const Key& key, std::uint64_t, std::uint64_t) {
    add(key, {{"type", "array"}, {"items", amount()}, {"minItems", 2}, {"maxItems", 2}});
  }
  void dimensions(const Key& key, std::vector<int>&) {
    add(key, {{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 0}}}, {"minItems", 2}, {"maxItems", 2}});
  }
  void operator()(Key key, Capability&) { add(key, string_of(Form::capability, key.need == Need::required)); }
  void operator()(Key key, VersionRange&) { add(key, string_of(Form::range, key.need == Need::required)); }
  void operator()(const Key& key, std::vector<std::string>&) { add_list(key, string_of(key.form, true)); }
  void operator()(const Key& key, std::vector<Capability>&) { add_list(key, string_of(Form::capability, true)); }
  void operator()(const Key& key, std::vector<Gencode>&) { add_list(key, string_of(Form::gencode, true)); }

  template <class T>
  void operator()(const Key& key, T& member) {
    add(key, table(member));
  }
  template <class T>
  void operator()(const Key& key, std::vector<T>&) {
    T row{};
    add_list(key, table(row));
  }

  void add(const Key& key, Json shape) {
    shape["description"] = key.about;
    m_properties[std::string(key.name)] = std::move(shape);
    if (key.need != Need::optional) m_required.push_back(key.name);
  }

 private:
  static Json amount() { return {{"type", "number"}, {"minimum", 0}}; }

  /// An optional string may be empty: that means "not given".
  static Json string_of(Form form, bool filled) {
    Json shape = {{"type", "string"}};
    if (const std::string pattern(form_pattern(form)); !pattern.empty()) {
      shape["pattern"] = "^(" + pattern + (filled ? ")$" : ")?$");
    }
    if (filled) shape["minLength"] = 1;
    return shape;
  }

  void add_list(const Key& key, Json items) {
    Json shape = {{"type", "array"}, {"items", std::move(items)}};
    if (key.need == Need::required) shape["minItems"] = 1;
    add(key, std::move(shape));
  }

  Json m_properties = Json::object();
  Json m_required = Json::array();
};

}  // namespace

std::string spec_json_schema() {
  Spec spec;
  SchemaWriter writer;
  writer.add({"schema", "version of this format", Need::required}, {{"const", spec_schema}});
  describe(writer, spec);
  Json document = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                   {"title", "plugin.toml of sagekit, schema " + std::to_string(spec_schema)}};
  document.update(writer.object());
  return json_text(document);
}

}  // namespace sagekit
