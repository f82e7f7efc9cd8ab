#include "toolchain/wheel_choice.hpp"

#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <tuple>

namespace sagekit {

namespace {

/// manylinux_2_28_x86_64, manylinux1_x86_64, linux_x86_64: for x86_64. musllinux is another C library. Windows has one
/// tag.
bool is_for(const WheelName& name, std::string_view platform) {
  const auto machine = platform.substr(std::min(platform.find('_'), platform.size()));
  return std::ranges::any_of(name.platform, [&](const std::string& tag) {
    return tag == "any" || tag == platform ||
           (tag.ends_with(machine) && (tag.starts_with("manylinux") || tag.starts_with("linux")));
  });
}

/// "cp312" -> 12; "py3" and the like -> -1.
int python_minor(const WheelName& name) {
  int newest = -1;
  for (const auto& tag : name.python)
    if (tag.starts_with("cp3")) newest = std::max(newest, leading_number(std::string_view(tag).substr(3)));
  return newest;
}

bool is_free_threaded(const WheelName& name) {
  return std::ranges::any_of(name.abi,
                             [](const std::string& abi) { return abi.starts_with("cp") && abi.ends_with('t'); });
}

}  // namespace

std::vector<WheelChoice> wheels_for(const std::vector<IndexFile>& page, std::string_view platform,
                                    const VersionRange& range) {
  std::vector<WheelChoice> choices;
  for (const auto& file : page) {
    if (file.yanked || !file.name.ends_with(".whl")) continue;
    auto name = parse_wheel_name(file.name);
    if (!name || !name->variant.empty() || !is_for(*name, platform)) continue;
    const auto plus = std::min(name->version.find('+'), name->version.size());
    const auto version = parse_version_number(name->version.substr(0, plus));
    if (!version || !range.contains(*version)) continue;  // a pre-release is no number
    auto local = name->version.substr(std::min(plus + 1, name->version.size()));
    choices.push_back({file, std::move(*name), *version, std::move(local)});
  }
  std::ranges::sort(choices, [](const WheelChoice& a, const WheelChoice& b) {
    if (a.version != b.version) return a.version > b.version;
    const auto rank = [](const WheelChoice& c) {
      return std::tuple(leading_number(c.name.build), !is_free_threaded(c.name), python_minor(c.name));
    };
    if (rank(a) != rank(b)) return rank(a) > rank(b);
    return a.file.name < b.file.name;
  });
  return choices;
}

Result<WheelChoice> pinned_wheel(const std::vector<IndexFile>& page, const LockedFile& pin) {
  const auto found = std::ranges::find(page, pin.name, &IndexFile::name);
  if (found == page.end())
    return fail(ErrorKind::failed, "PRV006", fmt::format("the index has no {}, which the lock pins", pin.name),
                "it was removed there, or this is another index than the lock was made with");
  TRY_ASSIGN(auto name, parse_wheel_name(pin.name));
  return WheelChoice{*found, std::move(name), {}, {}};
}

std::optional<VersionRange> pinned_version(const std::vector<std::string>& requires_dist, std::string_view project) {
  for (const auto& row : requires_dist) {
    const std::string_view requirement = std::string_view(row).substr(0, row.find(';'));
    const auto end = std::min(requirement.find_first_of(" [<>=!~("), requirement.size());
    if (normalized_project(requirement.substr(0, end)) != project) continue;
    auto words = trim(requirement.substr(end));
    if (words.starts_with('(') && words.ends_with(')')) words = words.substr(1, words.size() - 2);
    if (!words.starts_with("==")) continue;
    if (auto range = parse_version_range(words)) return std::move(*range);
  }
  return std::nullopt;
}

}  // namespace sagekit
