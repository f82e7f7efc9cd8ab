#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/judge.hpp"

#include <algorithm>

namespace sagekit {

namespace {

/// What an artifact says of itself: its record, else its version.
Claims read_claims(const Subject& subject, Judgement& judgement) {
  Claims claims = claims_of_version(subject.name.version);
  if (subject.wheel == nullptr) return claims;
  const auto path = fmt::format("{}/{}", subject.wheel->dist_info, k_provenance_file);
  if (subject.find(path) == nullptr) return claims;
  const auto text = subject.read(path);
  auto recorded = text ? read_provenance(*text) : std::unexpected(text.error());
  if (recorded) return std::move(*recorded);
  judgement.broken("TRU003", recorded.error().message, path);
  return claims;
}

/// Of the plugins that make this distribution: the one it was made with, else one that knows its commit, else the
/// first.
const Plugin* choose_plugin(const std::vector<const Plugin*>& plugins, const WheelName& name, const Claims& claims) {
  const Plugin* chosen = nullptr;
  bool knows_commit = false;
  for (const Plugin* plugin : plugins) {
    if (normalized_project(plugin->spec().metadata.name) != normalized_project(name.distribution)) continue;
    if (!claims.plugin.empty() && plugin->name() == claims.plugin) return plugin;
    const bool knows = !claims.commit.empty() && find_revision(plugin->spec(), claims.commit) != nullptr;
    if (chosen == nullptr || (knows && !knows_commit)) chosen = plugin, knows_commit = knows;
  }
  return chosen;
}

bool fits(const Subject& subject, const SourceFingerprint& print) {
  const auto text =
      subject.find(print.file) == nullptr ? Result<std::string>(std::unexpected(Error{})) : subject.read(print.file);
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

bool looks_like(const Subject& subject, const Revision& revision) {
  const auto& prints = subject.spec->source.fingerprints;
  if (prints.empty()) return release_of_source(subject.name.version) == revision.version;
  return std::ranges::all_of(
      prints, [&](const SourceFingerprint& print) { return !holds(print.when, revision) || fits(subject, print); });
}

}  // namespace

void choose_revision(Subject& subject) {
  if (subject.spec == nullptr) return;
  const SourceSpec& source = subject.spec->source;
  if (!subject.claims.commit.empty()) subject.revision = find_revision(*subject.spec, subject.claims.commit);
  subject.recorded = subject.revision != nullptr;
  if (subject.recorded) return;
  // Of several that fit, the spec's default first: most wheels are made from it.
  const Revision* usual = find_revision(*subject.spec, source.default_commit);
  if (usual != nullptr && looks_like(subject, *usual)) subject.revision = usual;
  for (const auto& revision : source.revisions)
    if (subject.revision == nullptr && looks_like(subject, revision)) subject.revision = &revision;
}

InspectOptions reading_options(const VerifyOptions& options) {
  InspectOptions how;
  how.memory_bytes = options.memory_bytes;
  how.resources = true;
  return how;
}

void prepare(Subject& subject, const std::vector<const Plugin*>& plugins, const Spec* spec, Judgement& judgement) {
  subject.claims = read_claims(subject, judgement);
  subject.plugin = choose_plugin(plugins, subject.name, subject.claims);
  subject.spec = spec != nullptr ? spec : subject.plugin != nullptr ? &subject.plugin->spec() : nullptr;
  choose_revision(subject);
  // Files that are no modules say here what could not be read in them; modules where they are judged.
  for (const auto& member : subject.members)
    if (!is_native(member.path)) judgement.read_problems(member.problems, member.path);
}

}  // namespace sagekit
