#include "inspect/system_needs.hpp"

#include "elf/symbol_name.hpp"
#include "pypa/wheel_paths.hpp"
#include "spec/libc_floor.hpp"
#include "support/format.hpp"

#include <algorithm>

namespace sagekit {

namespace {

bool is_among(const std::vector<MemberFacts>& members, std::string_view library) {
  return std::ranges::any_of(members, [&](const MemberFacts& member) {
    return member.elf && (member.elf->soname == library || base_name(member.path) == library);
  });
}

}  // namespace

std::string SystemNeed::text() const {
  return symbol.empty() ? version : fmt::format("{} for {}", version, name_for_people(symbol));
}

bool SystemNeed::is_stricter_than(const SystemNeed& other) const {
  if (!level || !other.level) return !level && other.level.has_value();
  return *other.level < *level;
}

std::vector<SystemNeed> system_needs(const std::vector<MemberFacts>& members) {
  std::vector<SystemNeed> needs;
  for (const auto& member : members) {
    if (!member.elf || !is_native(member.path)) continue;
    for (const auto& wanted : member.elf->wanted_versions) {
      const auto colon = wanted.find(':');
      const auto library = wanted.substr(0, colon), version = wanted.substr(colon + 1);
      if (!is_manylinux_version(version) || library.starts_with("ld-linux")) continue;
      if (is_among(members, library)) continue;
      const auto number = parse_version_number(std::string_view(version).substr(version.find('_') + 1));
      const auto by = member.elf->wanted_by.find(wanted);
      needs.push_back({version, number ? std::optional(*number) : std::nullopt,
                       manylinux_level(member.elf->machine, version),
                       by == member.elf->wanted_by.end() ? "" : by->second.front(), member.path, member.elf->machine});
    }
  }
  return needs;
}

const SystemNeed* strictest(const std::vector<SystemNeed>& needs) {
  const SystemNeed* most = nullptr;
  for (const auto& need : needs)
    if (most == nullptr || need.is_stricter_than(*most)) most = &need;
  return most;
}

}  // namespace sagekit
