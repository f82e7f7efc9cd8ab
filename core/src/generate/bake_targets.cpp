#include "generate/bake_targets.hpp"

#include "generate/quote.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

std::vector<std::string> profiles_of(const PlannedVariant& variant) {
  if (!variant.request.profile.empty() || variant.spec->profiles.empty()) return {variant.request.profile};
  std::vector<std::string> names;
  for (const auto& profile : variant.spec->profiles) names.push_back(profile.name);
  return names;
}

/// The id ends in the arch set, which a variable of the bake file may change. Where the star would take another cell,
/// too ("python313t"), the id itself: for another arch list it is none, and says so.
std::string cell_glob(const PlannedVariant& variant, const std::string& profile, const Cell& cell) {
  const auto suffix = cell.arch_set.empty() ? 0 : 1 + cell.arch_set.size();
  auto glob = cell.id.substr(0, cell.id.size() - suffix) + "*";
  auto request = variant.request;  // as the Dockerfile's command has it
  for (auto* narrowing : {&request.pythons, &request.torches, &request.cudas}) narrowing->clear();
  request.profile = profile;
  request.cells = {glob};
  request.platforms = {cell.platform};
  request.with_steps = false;
  const auto plan = make_plan(*variant.spec, request, Environment{});
  return plan && plan->cells.size() == 1 ? glob : cell.id;
}

class Targets {
 public:
  Targets(const ImageChoice& images, bool skip, std::vector<std::string>& notes)
      : m_images(images), m_skip(skip), m_notes(notes) {}

  Status add(const PlannedVariant& variant, const std::string& profile) {
    auto request = variant.request;
    request.profile = profile;
    auto plan = make_plan(*variant.spec, request, Environment{});
    // Narrowed to cells that this profile has none of: it is no group.
    if (!plan && plan.error().kind == ErrorKind::no_match && variant.request.profile.empty()) return {};
    if (!plan) return std::unexpected(plan.error());
    BakeGroup group{group_name_of(variant.spec->name, profile.empty() ? "default" : profile), {}};
    for (auto& cell : plan->cells) {
      if (!cell.platform.starts_with("linux_")) {
        m_left_out.insert(fmt::format("{} (not for Linux)", cell.id));
        continue;
      }
      const auto image = m_images.for_cell(cell);
      if (!image && !m_skip) return std::unexpected(image.error());
      if (!image) {
        m_left_out.insert(fmt::format("{} (no image with CUDA {}: --base names one)", cell.id, cell.cuda));
        continue;
      }
      TRY_ASSIGN(auto name, target_for(variant, profile, plan->commit, std::move(cell)));
      group.targets.push_back(std::move(name));
    }
    if (group.targets.empty()) return {};
    if (profile.empty() || profile == "default")
      m_defaults.insert(m_defaults.end(), group.targets.begin(), group.targets.end());
    m_made.groups.push_back(std::move(group));
    return {};
  }

  Result<BakeTargets> finish() {
    if (!m_left_out.empty()) m_notes.push_back("left out: " + fmt::format("{}", fmt::join(m_left_out, ", ")));
    if (m_made.targets.empty())
      return fail(ErrorKind::no_match, "GEN002", "no selected cell can be a target of a bake file",
                  m_notes.empty() ? "sagekit plan shows the cells" : m_notes.back());
    // Of a chosen profile that is another one: what is there. bake wants a group of that name where none is asked for.
    if (m_defaults.empty())
      for (const auto& target : m_made.targets) m_defaults.push_back(target.name);
    m_made.groups.insert(m_made.groups.begin(), {"default", m_defaults});
    std::set<std::string> names{"_cell"};
    for (const auto& group : m_made.groups) TRY(take(names, group.name));
    for (const auto& target : m_made.targets) TRY(take(names, target.name));
    return std::move(m_made);
  }

 private:
  static Status take(std::set<std::string>& names, const std::string& name) {
    if (names.insert(name).second) return {};
    return fail(ErrorKind::usage, "GEN003",
                fmt::format("two targets or groups of the bake file would have the name {}", name),
                "give the profile another name, or choose one with --profile");
  }

  /// The target's name. Profiles share a cell's target when they build the same of it.
  Result<std::string> target_for(const PlannedVariant& variant, const std::string& profile, const std::string& commit,
                                 Cell cell) {
    auto name = target_name(cell.id);
    const auto known = std::ranges::find(m_made.targets, name, &BakeTarget::name);
    if (known != m_made.targets.end() && known->cell.id == cell.id) {
      if (m_commits[static_cast<std::size_t>(known - m_made.targets.begin())] == commit) return name;
      name = target_name(fmt::format("{}-{}", cell.id, profile));
    }
    auto glob = cell_glob(variant, profile, cell);
    m_made.targets.push_back(
        {name, variant.spec->name, profile.empty() ? "default" : profile, std::move(glob), std::move(cell)});
    m_commits.push_back(commit);
    return name;
  }

  const ImageChoice& m_images;
  bool m_skip;
  std::vector<std::string>& m_notes;
  BakeTargets m_made;
  std::vector<std::string> m_commits;  ///< of the targets' sources
  std::vector<std::string> m_defaults;
  std::set<std::string> m_left_out;
};

}  // namespace

std::string group_name_of(std::string_view plugin, std::string_view profile) {
  const auto name = target_name(profile);
  return name == plugin || name.starts_with(fmt::format("{}-", plugin))
             ? name
             : target_name(fmt::format("{}-{}", plugin, profile));
}

Result<BakeTargets> bake_targets(const std::vector<PlannedVariant>& variants, const ImageChoice& images, bool skip,
                                 std::vector<std::string>& notes) {
  Targets targets(images, skip, notes);
  for (const auto& variant : variants)
    for (const auto& profile : profiles_of(variant)) TRY(targets.add(variant, profile));
  return targets.finish();
}

}  // namespace sagekit
