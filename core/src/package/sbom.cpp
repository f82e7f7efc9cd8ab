#include "package/sbom.hpp"

#include "support/format.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"

#include <sagekit/version.hpp>

#include <algorithm>

namespace sagekit {

namespace {

std::string url_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~')
      out += c;
    else
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

/// "https://github.com/NVIDIA/cutlass.git" -> "cutlass"
std::string repository_name(std::string_view url) {
  while (url.ends_with('/')) url.remove_suffix(1);
  if (url.ends_with(".git")) url.remove_suffix(4);
  return std::string(url.substr(url.find_last_of("/:") + 1));
}

/// A package URL (purl-spec): of type github where it is, else generic with the repository's address.
std::string purl_of(std::string_view url, std::string_view commit) {
  constexpr std::string_view k_github = "https://github.com/";
  if (url.starts_with(k_github)) {
    const auto owner = url.substr(k_github.size(), url.find('/', k_github.size()) - k_github.size());
    return lower(fmt::format("pkg:github/{}/{}@{}", owner, repository_name(url), commit));
  }
  return fmt::format("pkg:generic/{}@{}?vcs_url={}", url_encoded(repository_name(url)), commit,
                     url_encoded(fmt::format("git+{}@{}", url, commit)));
}

Json tree(std::string_view ref, const std::string& url, const std::string& commit, const std::string& git_tree) {
  return {{"type", "library"},
          {"bom-ref", ref},
          {"name", repository_name(url)},
          {"version", commit},
          {"purl", purl_of(url, commit)},
          {"externalReferences", Json::array({{{"type", "vcs"}, {"url", url}}})},
          {"properties", Json::array({{{"name", "sagekit:git-tree"}, {"value", git_tree}}})}};
}

/// What the lines of the build record say was edited.
std::string edits_made(const Spec& spec, const CellBuild& build) {
  std::string notes;
  for (const auto& line : build.provenance) {
    if (!line.starts_with("edit ")) continue;
    const auto edit = std::ranges::find(spec.source.edits, line.substr(5), &SourceEdit::id);
    notes += fmt::format("{}{}", notes.empty() ? "edited when built: " : "; ", line.substr(5));
    if (edit != spec.source.edits.end() && !edit->reason.empty()) notes += fmt::format(" ({})", edit->reason);
  }
  return notes;
}

/// RFC 9562: a UUID of version 8 has bits of one's own choice, here those of a hash.
std::string uuid_of(std::string_view text) {
  auto hex = sha256_hex(text).substr(0, 32);
  hex[12] = '8';
  hex[16] = "89ab"[(hex[16] >= 'a' ? hex[16] - 'a' + 10 : hex[16] - '0') % 4];
  return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4), hex.substr(16, 4),
                     hex.substr(20));
}

}  // namespace

bool has_static_cuda_runtime(const Spec& spec, const CellBuild& build) {
  return std::ranges::any_of(spec.kernels, [&](const KernelSpec& kernel) {
    const auto path = replace_all(kernel.module, ".", "/") + ".";
    return kernel.torch_free && std::ranges::any_of(build.files, [&](const StagedFile& file) {
             return file.archive_path.starts_with(path);
           });
  });
}

std::string sbom_json(const Spec& spec, const Revision& revision, const CellBuild& build, const WheelName& name) {
  const std::string wheel_ref = fmt::format("pkg:pypi/{}@{}?file_name={}", normalized_project(spec.metadata.name),
                                            url_encoded(build.cell.version), url_encoded(name.file_name()));
  Json wheel{{"type", "library"},
             {"bom-ref", wheel_ref},
             {"name", spec.metadata.name},
             {"version", build.cell.version},
             {"purl", wheel_ref}};
  if (!spec.metadata.license.empty()) wheel["licenses"] = Json::array({{{"expression", spec.metadata.license}}});

  Json components = Json::array();
  components.push_back(tree("source", spec.source.url, revision.commit, revision.tree));
  if (const auto notes = edits_made(spec, build); !notes.empty()) components.back()["pedigree"] = {{"notes", notes}};
  for (const auto& vendored : spec.source.vendored) {
    components.push_back(tree("vendored-" + vendored.name, vendored.url, vendored.commit, vendored.tree));
    components.back()["name"] = vendored.name;
    if (!vendored.license.empty()) components.back()["licenses"] = Json::array({{{"expression", vendored.license}}});
  }
  if (has_static_cuda_runtime(spec, build))
    components.push_back({{"type", "library"},
                          {"bom-ref", "cuda-runtime-static"},
                          {"supplier", {{"name", "NVIDIA Corporation"}}},
                          {"name", "libcudart_static"},
                          {"version", build.cell.cuda},
                          {"licenses", Json::array({{{"license",
                                                      {{"name", "NVIDIA CUDA Toolkit End User License Agreement"},
                                                       {"url", "https://docs.nvidia.com/cuda/eula/"}}}}})}});
  Json depends = Json::array();
  for (const auto& component : components) depends.push_back(component["bom-ref"]);

  Json json{{"$schema", "http://cyclonedx.org/schema/bom-1.6.schema.json"},
            {"bomFormat", "CycloneDX"},
            {"specVersion", "1.6"},
            {"serialNumber", ""},
            {"version", 1}};
  Json& metadata = json["metadata"];
  metadata["timestamp"] = revision.date;
  metadata["tools"] = {
      {"components", Json::array({{{"type", "application"}, {"name", "sagekit"}, {"version", SAGEKIT_VERSION}}})}};
  metadata["component"] = std::move(wheel);
  json["components"] = std::move(components);
  json["dependencies"] = Json::array({{{"ref", wheel_ref}, {"dependsOn", std::move(depends)}}});
  json["serialNumber"] = "urn:uuid:" + uuid_of(json_text(json));
  return json_text(json);
}

}  // namespace sagekit
