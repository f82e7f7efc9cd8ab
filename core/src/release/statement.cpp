#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"

#include <sagekit/release.hpp>
#include <sagekit/version.hpp>

#include <map>

namespace sagekit {

namespace {

/// Tools that built wheels, by the line that names them: "nvcc 13.0.88 identity 1f2e...".
void add_tools(const ReleasedWheel& wheel, std::map<std::string, Json>& dependencies) {
  for (const auto& line : wheel.origin.tools) {
    const auto words = split_words(line);
    if (words.size() == 7 && words[0] == "vendored") {
      dependencies[line] = {{"uri", fmt::format("git+{}@{}", words[2], words[4])},
                            {"digest", {{"gitCommit", words[4]}}},
                            {"name", words[1]}};
    } else if (const auto at = line.find(" identity "); at != std::string::npos) {
      dependencies[line] = {{"name", line.substr(0, at)},
                            {"digest", {{"sha256", line.substr(at + std::string_view(" identity ").size())}}}};
    }
  }
}

}  // namespace

std::string provenance_statement(const Release& release) {
  Json subjects = Json::array(), wheels = Json::object();
  std::map<std::string, Json> dependencies;  // by a name of their own, so that each is there once and in one order
  for (const auto& wheel : release.wheels) {
    const auto& origin = wheel.origin;
    subjects.push_back({{"name", wheel.file}, {"digest", {{"sha256", wheel.sha256}}}});
    wheels[wheel.file] = {{"cell", origin.cell},     {"commit", origin.commit},     {"python", origin.python},
                          {"torch", origin.torch},   {"cuda", origin.cuda},         {"platform", origin.platform},
                          {"arches", origin.arches}, {"source_edits", origin.edits}};
    if (origin.commit.size() == 40)
      dependencies["0 source " + origin.commit] = {
          {"uri",
           fmt::format("git+{}@{}", origin.source_url.empty() ? release.source_url : origin.source_url, origin.commit)},
          {"digest", {{"gitCommit", origin.commit}}},
          {"name", "source"}};
    add_tools(wheel, dependencies);
  }
  Json resolved = Json::array();
  for (auto& [name, dependency] : dependencies) resolved.push_back(std::move(dependency));

  Json definition{{"buildType", "urn:sagekit:build:1"}};
  definition["externalParameters"] = {{"plugin", {{"name", release.plugin}, {"version", release.plugin_version}}},
                                      {"wheels", std::move(wheels)}};
  definition["internalParameters"] = Json::object();
  definition["resolvedDependencies"] = std::move(resolved);
  Json json{{"_type", "https://in-toto.io/Statement/v1"}};
  json["subject"] = std::move(subjects);
  json["predicateType"] = "https://slsa.dev/provenance/v1";
  json["predicate"] = {
      {"buildDefinition", std::move(definition)},
      {"runDetails", {{"builder", {{"id", "urn:sagekit:builder"}, {"version", {{"sagekit", SAGEKIT_VERSION}}}}}}}};
  return json_text(json);
}

}  // namespace sagekit
