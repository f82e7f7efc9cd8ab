#include "spec/name_readings.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/judge.hpp"

#include <algorithm>

namespace sagekit {

namespace {

/// Its record; nothing when there is none, or none that can be read.
std::optional<Provenance> find_record(const Artifact& artifact, FindingList& findings) {
  if (artifact.wheel == nullptr) return {};
  const auto path = fmt::format("{}/{}", artifact.wheel->dist_info, k_provenance_file);
  if (artifact.find(path) == nullptr) return {};
  const auto text = artifact.read(path);
  auto record = text ? read_provenance(*text) : std::unexpected(text.error());
  if (record) return std::move(*record);
  findings.broken("TRU003", record.error().message, path);
  return {};
}

bool fits(const Artifact& artifact, const SourceFingerprint& print) {
  const auto text =
      artifact.find(print.file) == nullptr ? Result<std::string>(std::unexpected(Error{})) : artifact.read(print.file);
  if (!text) return false;
  int count = 0;
  for (auto at = text->find(print.text); at != std::string::npos; at = text->find(print.text, at + print.text.size()))
    ++count;
  return count == print.count;
}

/// "2.2.0" of "2.2.0.post3+cu128": what upstream called the source.
std::string_view release_of_source(std::string_view version) {
  auto release = version.substr(0, version.find_first_not_of("0123456789."));
  while (release.ends_with('.')) release.remove_suffix(1);
  return release;
}

bool looks_like(const Artifact& artifact, const Spec& spec, const Revision& revision) {
  const auto& prints = spec.source.fingerprints;
  if (prints.empty()) return release_of_source(artifact.name.version) == revision.version;
  return std::ranges::all_of(
      prints, [&](const SourceFingerprint& print) { return !holds(print.when, revision) || fits(artifact, print); });
}

/// Of the plugins that make this distribution: the one it was made with, else one that knows its commit, else one whose
/// source its files show, else the first.
const Plugin* choose_plugin(const std::vector<const Plugin*>& plugins, const Artifact& artifact) {
  const Provenance& provenance = artifact.provenance;
  const auto rank = [&](const Plugin& plugin) {
    const Spec& spec = plugin.spec();
    if (!provenance.plugin.empty() && plugin.name() == provenance.plugin) return 3;
    if (!provenance.commit.empty() && find_revision(spec, provenance.commit) != nullptr) return 2;
    const auto shown = [&](const Revision& revision) { return looks_like(artifact, spec, revision); };
    return !spec.source.fingerprints.empty() && std::ranges::any_of(spec.source.revisions, shown) ? 1 : 0;
  };
  const Plugin* chosen = nullptr;
  int best = -1;
  for (const Plugin* plugin : plugins) {
    if (normalized_project(plugin->spec().metadata.name) != normalized_project(artifact.name.distribution)) continue;
    if (const int own = rank(*plugin); own > best) chosen = plugin, best = own;
  }
  return chosen;
}

}  // namespace

void choose_revision(Artifact& artifact) {
  if (artifact.spec == nullptr) return;
  const SourceSpec& source = artifact.spec->source;
  if (!artifact.provenance.commit.empty())
    artifact.revision = find_revision(*artifact.spec, artifact.provenance.commit);
  artifact.recorded = artifact.revision != nullptr;
  if (artifact.recorded || !artifact.missing_plugin.empty()) return;
  // Of several that fit, the spec's default first: most wheels are made from it.
  const Revision* usual = find_revision(*artifact.spec, source.default_commit);
  if (usual != nullptr && looks_like(artifact, *artifact.spec, *usual)) artifact.revision = usual;
  for (const auto& revision : source.revisions)
    if (artifact.revision == nullptr && looks_like(artifact, *artifact.spec, revision)) artifact.revision = &revision;
}

InspectOptions reading_options(const VerifyOptions& options) {
  InspectOptions how;
  how.memory_bytes = options.memory_bytes;
  how.resources = !options.trial;
  if (options.trial) how.whole_file = how.file_hash = how.member_hashes = false;
  return how;
}

void prepare(Artifact& artifact, const std::vector<const Plugin*>& plugins, const Spec* spec,
             std::span<const NamingScheme> schemes, FindingList& findings) {
  std::vector<const Spec*> specs;
  if (spec != nullptr) specs.push_back(spec);
  for (const auto* plugin : plugins) specs.push_back(&plugin->spec());
  artifact.provenance =
      provenance_of(find_record(artifact, findings), name_readings(artifact.name, schemes, specs),
                    artifact.wheel != nullptr ? artifact.wheel->requires_dist : std::vector<std::string>());
  artifact.plugin = choose_plugin(plugins, artifact);
  artifact.spec = spec != nullptr ? spec : artifact.plugin != nullptr ? &artifact.plugin->spec() : nullptr;
  const auto& maker = artifact.provenance.plugin;
  if (spec == nullptr && artifact.plugin != nullptr && artifact.plugin->name() != maker)
    artifact.missing_plugin = maker;
  choose_revision(artifact);
  // Files that are no modules say here what could not be read in them; modules where they are judged.
  for (const auto& member : artifact.members)
    if (!is_native(member.path)) findings.read_problems(member.problems, member.path);
}

}  // namespace sagekit
