#include "plan/choice.hpp"

#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>

namespace sagekit {
namespace {

template <class Rows, class Name>
std::vector<std::string> names_of(const Rows& rows, Name name) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row.*name);
  return names;
}

Result<const Profile*> choose_profile(const Spec& spec, const std::string& word) {
  const auto wanted = word.empty() ? std::string("default") : word;
  const auto found = std::ranges::find(spec.profiles, wanted, &Profile::name);
  if (found != spec.profiles.end()) return &*found;
  if (wanted == "default") return nullptr;
  if (word.find_first_of(",; ") != std::string::npos)
    return fail(ErrorKind::usage, "PLN001", fmt::format("\"{}\" is no profile: --profile takes one", word),
                "one call for each; what they share is made once");
  return fail(ErrorKind::usage, "PLN001", fmt::format("plugin {} has no profile \"{}\"", spec.name, word),
              suggestion(word, names_of(spec.profiles, &Profile::name)));
}

Result<const Revision*> choose_revision(const Spec& spec, const Request& request, const Profile* profile) {
  auto word = request.revision;
  if (word.empty() && profile) word = profile->revision;
  if (word.empty()) word = spec.source.default_commit;
  if (const auto* revision = find_revision(spec, word)) return revision;
  std::vector<std::string> known;
  for (const auto& revision : spec.source.revisions) {
    known.push_back(revision.commit.substr(0, 7));
    known.insert(known.end(), revision.names.begin(), revision.names.end());
  }
  return fail(ErrorKind::usage, "PLN002", fmt::format("plugin {} knows no revision \"{}\"", spec.name, word),
              suggestion(word, known));
}

Status check_defects(const Spec& spec, const std::vector<std::string>& asked) {
  for (const auto& id : asked) {
    if (std::ranges::find(spec.source.defects, id, &Defect::id) != spec.source.defects.end()) continue;
    return fail(ErrorKind::usage, "PLN005", fmt::format("plugin {} knows no defect \"{}\"", spec.name, id),
                suggestion(id, names_of(spec.source.defects, &Defect::id)));
  }
  return {};
}

std::vector<std::string> or_everything(const std::vector<std::string>& globs) {
  return globs.empty() ? std::vector<std::string>{"*"} : globs;
}

}  // namespace

std::vector<std::string> platforms_of(const Profile* profile) {
  return profile && !profile->platforms.empty() ? profile->platforms : std::vector<std::string>{"linux_x86_64"};
}

std::string_view to_string(Backend backend) { return backend == Backend::direct ? "direct" : "setup-py"; }

std::vector<Capability> native_capabilities(const Environment& environment) {
  std::vector<Capability> native;
  for (const auto& gpu : environment.gpus) native.push_back(gpu.capability);
  return native;
}

Result<Choice> resolve_request(const Spec& spec, const Request& request, const Environment& environment) {
  Choice choice;
  TRY_ASSIGN(choice.profile, choose_profile(spec, request.profile));
  TRY_ASSIGN(choice.revision, choose_revision(spec, request, choice.profile));
  choice.schemes = request.schemes;
  TRY_ASSIGN(choice.scheme, find_scheme(spec, request.naming, choice.schemes));
  TRY(check_defects(spec, request.allowed_defects));
  choice.allowed_defects = request.allowed_defects;
  std::ranges::sort(choice.allowed_defects);
  choice.requires_dist = spec.metadata.requires_dist;
  choice.backend = request.backend;

  choice.profile_globs = or_everything(choice.profile ? choice.profile->cells : std::vector<std::string>{});
  choice.cell_globs = or_everything(request.cells);
  choice.platforms = request.platforms.empty() ? platforms_of(choice.profile) : request.platforms;

  auto list = request.arches;
  if (list.empty() && choice.profile) list = choice.profile->arches;
  if (!list.empty()) {
    TRY_ASSIGN(choice.arches, parse_arch_list(list, native_capabilities(environment)));
  }
  return choice;
}

}  // namespace sagekit
