#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/spec.hpp>

#include <algorithm>

namespace sagekit {

namespace {

constexpr std::size_t k_shortest_commit = 7;

/// The release part of a version as tools print it: "2.11.0+cu130" -> "2.11.0", "2.12.0.dev20260101" -> "2.12.0".
std::string_view release_part(std::string_view version) {
  std::string_view release = version.substr(0, version.find_first_not_of("0123456789."));
  while (release.ends_with('.')) release.remove_suffix(1);
  return release;
}

bool in_range(const VersionRange& range, std::string_view version) {
  if (version.empty() || range.terms.empty()) return true;
  const auto number = parse_version_number(release_part(version));
  return number && range.contains(*number);
}

}  // namespace

const Revision* find_revision(const Spec& spec, std::string_view word) {
  const auto& revisions = spec.source.revisions;
  if (word.empty()) return nullptr;
  for (const Revision& revision : revisions) {
    if (revision.commit == word || contains(revision.names, word)) return &revision;
  }
  const std::string start = lower(word);
  const auto matches = [&](const Revision& revision) { return revision.commit.starts_with(start); };
  // An abbreviation that two commits share means neither.
  if (start.size() < k_shortest_commit || std::ranges::count_if(revisions, matches) != 1) return nullptr;
  return &*std::ranges::find_if(revisions, matches);
}

Result<const NamingScheme*> find_scheme(const Spec& spec, std::string_view name, std::span<const NamingScheme> more) {
  if (name.empty()) name = spec.default_scheme.empty() ? "default" : std::string_view(spec.default_scheme);
  std::vector<std::string> known;
  const NamingScheme* found = nullptr;
  const auto look = [&](std::span<const NamingScheme> rows) {
    for (const NamingScheme& scheme : rows) {
      if (found == nullptr && scheme.name == name) found = &scheme;
      if (!contains(known, scheme.name)) known.push_back(scheme.name);
    }
    return found != nullptr;
  };
  // A plugin's own row of that name comes before the one that every spec has; a table is read when it is looked at.
  if (look(more) || look(spec.schemes) || look(builtin_schemes()) || look(published_schemes())) return found;
  return fail(ErrorKind::usage, "PLN003", fmt::format("plugin {} has no naming scheme \"{}\"", spec.name, name),
              suggestion(name, known));
}

bool holds(const When& when, const Revision& revision, std::string_view backend, std::string_view torch,
           std::string_view cuda) {
  const auto has = [&](const std::string& feature) { return contains(revision.features, feature); };
  return std::ranges::all_of(when.features, has) && std::ranges::none_of(when.not_features, has) &&
         (backend.empty() || when.backends.empty() || contains(when.backends, backend)) &&
         in_range(when.torch, torch) && in_range(when.cuda, cuda);
}

}  // namespace sagekit
