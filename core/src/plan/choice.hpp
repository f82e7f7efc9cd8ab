#pragma once
// What a request means for a spec: every word looked up, every wrong word an error that names the nearest right one.

#include <sagekit/arch.hpp>
#include <sagekit/environment.hpp>
#include <sagekit/error.hpp>
#include <sagekit/plan.hpp>
#include <sagekit/spec.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sagekit {

/// Pointers are into the spec (the scheme's may be into builtin_schemes()).
struct Choice {
  const Profile* profile = nullptr;  ///< null: the spec has no "default" and none was asked for; all cells
  const Revision* revision = nullptr;
  const NamingScheme* scheme = nullptr;
  std::span<const NamingScheme> schemes = {};  ///< of the request
  Backend backend = Backend::direct;
  std::vector<std::string> platforms;              ///< never empty
  std::vector<std::string> profile_globs;          ///< over base ids
  std::vector<std::string> cell_globs;             ///< over whole ids
  std::optional<std::vector<ArchRequest>> arches;  ///< asked for by flag or profile; none = the spec's default set
  bool and_default_arches = false;                 ///< `arches` are besides the default set
  std::vector<std::string> allowed_defects;        ///< sorted
  std::vector<std::string> requires_dist;          ///< templates
};

/// Those that a profile selects unless a flag does; null = no profile.
std::vector<std::string> platforms_of(const Profile* profile);

/// What "native" means in an arch list.
std::vector<Capability> native_capabilities(const Environment& environment);

/// Errors (usage): PLN001 profile, PLN002 revision, PLN003 scheme, PLN005 defect, and
/// parse_arch_list's.
Result<Choice> resolve_request(const Spec& spec, const Request& request, const Environment& environment);

}  // namespace sagekit
