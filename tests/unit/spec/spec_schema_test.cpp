#include "support/file.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "unit/spec/spec_samples.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace sagekit;

namespace {

using Keys = std::set<std::string>;
using Sections = std::map<std::string, Keys>;

/// The heading of docs/spec-reference.md that a table of the schema belongs under.
std::string section_of(const std::string& path, bool list) {
  if (path.empty()) return "The file";
  const std::string name = path.substr(path.rfind('.') + 1);
  if (name == "when" || name == "standards") return "`" + name + "`";
  if (name.ends_with("_cost")) return "Costs";
  return list ? "`[[" + path + "]]`" : "`[" + path + "]`";
}

void collect(const Json& object, const std::string& path, bool list, Sections& sections) {
  Keys& keys = sections[section_of(path, list)];
  for (const auto& [key, shape] : object["properties"].items()) {
    keys.insert(key);
    const std::string inner = path.empty() ? key : path + "." + key;
    if (shape.contains("properties")) collect(shape, inner, false, sections);
    if (shape.contains("items") && shape["items"].contains("properties"))
      collect(shape["items"], inner, true, sections);
  }
}

Sections sections_of_schema() {
  Sections sections;
  collect(parse_json(spec_json_schema()), "", false, sections);
  return sections;
}

/// Keys are the first column: "| `key` | ...".
Sections sections_of_reference() {
  Sections sections;
  std::string section;
  for (const std::string& line : split(*read_file(SAGEKIT_SOURCE_DIR "/docs/spec-reference.md"), '\n')) {
    if (line.starts_with("## ")) section = line.substr(3);
    if (line.starts_with("| `")) sections[section].insert(line.substr(3, line.find('`', 3) - 3));
  }
  return sections;
}

/// Every table says that it takes no other keys.
void check_closed(const Json& shape) {
  if (shape.is_object() && shape.contains("properties")) CHECK(shape.value("additionalProperties", true) == false);
  for (const Json& inner : shape) {
    if (inner.is_structured()) check_closed(inner);
  }
}

}  // namespace

TEST_CASE("the schema is a closed 2020-12 document") {
  const Json schema = parse_json(spec_json_schema());
  CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
  CHECK(schema["properties"]["schema"]["const"] == spec_schema);
  CHECK(schema["properties"]["kernel"]["items"]["properties"]["ptx"]["default"] == true);
  CHECK(schema["properties"]["source"]["properties"]["edit"]["items"]["properties"]["count"]["default"] == 1);
  check_closed(schema);
}

TEST_CASE("the reference has every key of the schema under its table, and no other") {
  const Sections schema = sections_of_schema(), reference = sections_of_reference();
  for (const auto& [section, keys] : schema) {
    CAPTURE(section);
    REQUIRE(reference.contains(section));
    CHECK(fmt::format("{}", keys) == fmt::format("{}", reference.at(section)));
  }
  for (const auto& [section, keys] : reference) CHECK_MESSAGE(schema.contains(section), section);
}

TEST_CASE("the good spec of the tests uses every key of the schema") {
  for (const auto& [section, keys] : sections_of_schema()) {
    for (const std::string& key : keys) {
      const bool used = good_spec().contains(key + " = ") || good_spec().contains("[" + key + "]") ||
                        good_spec().contains("." + key + "]") || good_spec().contains("[" + key + ".");
      CHECK_MESSAGE(used, section, " ", key);
    }
  }
}

TEST_CASE("every code that the parser and the validator give is in the findings") {
  const std::string findings = *read_file(SAGEKIT_SOURCE_DIR "/docs/findings/SPEC.md");
  for (int code = 1; code <= 13; ++code) CHECK(findings.contains(fmt::format("| SPEC{:03} |", code)));
  for (const char* file :
       {"spec_parser.cpp", "spec_validator.cpp", "spec_validator_gpu.cpp", "spec_schema_forms.cpp"}) {
    const std::string source = *read_file(std::string(SAGEKIT_SOURCE_DIR "/core/src/spec/") + file);
    for (auto at = source.find("\"SPEC0"); at != std::string::npos; at = source.find("\"SPEC0", at + 1)) {
      const std::string code = source.substr(at + 1, 7);
      CHECK_MESSAGE(findings.contains("| " + code + " |"), code);
    }
  }
}
