#pragma once
// Which targets and groups a bake file has.

#include "generate/kinds.hpp"
#include "generate/tools.hpp"

#include <string>
#include <vector>

namespace sagekit {

struct BakeTarget {
  std::string name, plugin, profile;
  std::string cells;  ///< glob that is this cell of the profile and platform, whatever the arch list
  Cell cell;
};
struct BakeGroup {
  std::string name;
  std::vector<std::string> targets;
};
struct BakeTargets {
  std::vector<BakeTarget> targets;  ///< in the order of the plugins and of their plans
  std::vector<BakeGroup> groups;    ///< "default" first: the default profiles of all plugins, else the chosen ones
};

/// The request's profile, or all of the plugin's when it names none. `skip`: cells without an image are left out with a
/// note. Errors: GEN002 no cell at all; GEN003 two things of one name; GEN006.
Result<BakeTargets> bake_targets(const std::vector<PlannedVariant>& variants, const ImageChoice& images, bool skip,
                                 std::vector<std::string>& notes);

/// "sage3-stable"; a profile that begins with its plugin's name keeps its own: "sage3-all".
std::string group_name_of(std::string_view plugin, std::string_view profile);

}  // namespace sagekit
