#include "spec/libc_floor.hpp"

#include <algorithm>

namespace sagekit {

namespace {

const ManylinuxMachine* find_machine(std::string_view machine) {
  const auto& rows = libc_data().manylinux;
  const auto row = std::ranges::find(rows, machine, &ManylinuxMachine::machine);
  return row == rows.end() ? nullptr : &*row;
}

VersionNumber ManylinuxLevel::* member_of(std::string_view kind) {
  if (kind == "GLIBC") return &ManylinuxLevel::glibc;
  if (kind == "GLIBCXX") return &ManylinuxLevel::glibcxx;
  if (kind == "CXXABI") return &ManylinuxLevel::cxxabi;
  if (kind == "GCC") return &ManylinuxLevel::gcc;
  return nullptr;
}

}  // namespace

std::vector<Shim> floor_shims(std::string_view floor) {
  std::vector<Shim> shims;
  const auto number = parse_version_number(floor);
  if (!number) return shims;
  for (const FloorHeader& header : libc_data().floor_headers)
    if (*number < header.since) shims.push_back({std::string(k_floor_shim), header.file, header.text});
  return shims;
}

bool needs_floor_shim(std::string_view floor) {
  const auto number = parse_version_number(floor);
  return number && std::ranges::any_of(libc_data().floor_headers,
                                       [&](const FloorHeader& header) { return *number < header.since; });
}

VersionNumber floor_on(std::string_view machine, const VersionNumber& floor) {
  const ManylinuxMachine* row = find_machine(machine);
  return row == nullptr || row->levels.empty() ? floor : std::max(floor, row->levels.front().glibc);
}

std::optional<VersionNumber> manylinux_level(std::string_view machine, std::string_view kind,
                                             const VersionNumber& number) {
  const ManylinuxMachine* row = find_machine(machine);
  const auto member = member_of(kind);
  if (row == nullptr || member == nullptr) return {};
  for (const ManylinuxLevel& level : row->levels)
    if (number <= level.*member) return level.glibc;
  if (kind == "GLIBC") return number;
  return {};
}

}  // namespace sagekit
