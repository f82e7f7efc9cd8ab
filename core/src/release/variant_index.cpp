#include "release/variant_index.hpp"

#include "pypa/variant_reader.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/release_index.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace sagekit {

namespace {

/// What the wheels of one version say together, and which of them said it first.
struct VariantUnion {
  std::string project, schema, schema_from, namespaces_from;
  std::vector<std::string> namespaces;
  Json providers = Json::object();
  std::map<std::string, std::pair<Json, std::string>> variants;  ///< label -> properties, file
};

std::unexpected<Error> disagree(const std::string& one, const std::string& other, const std::string& on) {
  return fail(ErrorKind::failed, "REL025", fmt::format("{} and {} disagree on {}", one, other, on),
              "the variants of one version are listed in one file: retag one of the wheels, or give it another version",
              one);
}

/// Of two lists of namespaces one must begin with the other: their order ranks the wheels.
bool begins_with(const std::vector<std::string>& list, const std::vector<std::string>& start) {
  return start.size() <= list.size() && std::equal(start.begin(), start.end(), list.begin());
}

Status take_variants(const ReleasedWheel& wheel, VariantUnion& all) {
  const VariantText said = read_variant(wheel.variants);
  if (said.format != k_variants_format)
    return fail(ErrorKind::failed, "REL025",
                fmt::format("{}: its variant.json is of the format \"{}\", and {} is written here", wheel.file,
                            said.format, k_variants_format),
                "sagekit retag --variant auto writes a plain wheel as a variant of that format", wheel.file);
  if (all.schema.empty()) std::tie(all.schema, all.schema_from) = std::pair(said.schema, wheel.file);
  if (said.schema != all.schema) return disagree(wheel.file, all.schema_from, "$schema");
  if (!begins_with(said.namespaces, all.namespaces) && !begins_with(all.namespaces, said.namespaces))
    return disagree(wheel.file, all.namespaces_from, "the order of namespaces");
  if (said.namespaces.size() > all.namespaces.size()) {
    all.namespaces = said.namespaces;
    all.namespaces_from = wheel.file;
  }
  const Json root = parse_json(wheel.variants);
  const Json providers = root.value("providers", Json::object());
  for (const auto& [name, provider] : providers.items()) {
    if (all.providers.contains(name) && all.providers[name] != provider)
      return disagree(wheel.file, all.namespaces_from, "the provider of " + name);
    all.providers[name] = provider;
  }
  for (const auto& [label, properties] : root["variants"].items()) {
    const auto [at, added] = all.variants.emplace(label, std::pair(properties, wheel.file));
    if (!added && at->second.first != properties)
      return disagree(wheel.file, at->second.second, "what the label " + label + " means");
    for (const auto& [other, known] : all.variants)
      if (added && other != label && known.first == properties)
        return disagree(wheel.file, known.second,
                        fmt::format("the label of one set of properties: {}, {}", label, other));
  }
  return {};
}

std::string union_text(const VariantUnion& all) {
  Json json{{"$schema", all.schema}};
  json["default-priorities"] = {{"namespace", all.namespaces}};
  if (!all.providers.empty()) json["providers"] = all.providers;
  Json& variants = json["variants"] = Json::object();
  for (const auto& [label, said] : all.variants) variants[label] = said.first;
  return json_text(json);
}

}  // namespace

Result<std::string> variant_line(std::string_view variant_json, const std::string& label, const std::string& file) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorKind::failed, "REL024", fmt::format("{}: {}", file, why),
                "sagekit retag --variant auto writes label and variant.json together", file);
  };
  const VariantText said = read_variant(variant_json);
  if (!said.faults.empty()) return refuse("its variant.json: " + said.faults.front());
  if (said.variants.size() != 1 || said.variants.begin()->first != label)
    return refuse(fmt::format("its name has the variant label \"{}\", its variant.json \"{}\"", label,
                              said.variants.empty() ? "" : said.variants.begin()->first));
  return json_line(parse_json(variant_json));
}

Result<std::vector<VariantIndex>> variant_indexes(const std::vector<const ReleasedWheel*>& wheels) {
  std::map<std::string, VariantUnion> by_version;
  for (const auto* wheel : wheels) {
    if (wheel->variants.empty()) continue;
    TRY_ASSIGN(const auto name, parse_wheel_name(wheel->file));
    auto& all = by_version[fmt::format("{}-{}", name.distribution, name.version)];
    all.project = wheel->project;
    TRY(take_variants(*wheel, all));
  }
  std::vector<VariantIndex> files;
  for (const auto& [version, all] : by_version)
    files.push_back({all.project, version + std::string(k_variants_ending), union_text(all)});
  return files;
}

}  // namespace sagekit
