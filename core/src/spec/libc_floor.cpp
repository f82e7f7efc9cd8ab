#include "spec/libc_floor.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

namespace {

const ManylinuxMachine* find_machine(std::string_view machine) {
  const auto& rows = libc_data().manylinux;
  const auto row = std::ranges::find(rows, machine, &ManylinuxMachine::machine);
  return row == rows.end() ? nullptr : &*row;
}

constexpr std::array<std::string_view, 6> k_kinds{"GLIBC", "GLIBCXX", "CXXABI", "GCC", "LIBATOMIC", "ZLIB"};

/// The newest version of a kind that a level has; nothing when it has none.
std::optional<VersionNumber> newest(const ManylinuxLevel& level, std::string_view kind) {
  if (kind == "GLIBC") return level.glibc;
  if (kind == "GLIBCXX") return level.glibcxx;
  if (kind == "CXXABI") return level.cxxabi;
  if (kind == "GCC") return level.gcc;
  if (kind == "LIBATOMIC") return level.libatomic;
  if (kind == "ZLIB") return level.zlib;
  return {};
}

/// "GLIBC" of "GLIBC_ABI_DT_RELR".
std::string_view kind_of(std::string_view version) { return version.substr(0, version.find('_')); }

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
  if (row == nullptr) return {};
  for (const ManylinuxLevel& level : row->levels)
    if (const auto most = newest(level, kind); most && number <= *most) return level.glibc;
  if (kind == "GLIBC") return number;
  return {};
}

std::optional<VersionNumber> manylinux_level(std::string_view machine, std::string_view version) {
  const ManylinuxMachine* row = find_machine(machine);
  if (row == nullptr) return {};
  for (const ManylinuxLevel& level : row->levels)
    if (std::ranges::find(level.names, version) != level.names.end()) return level.glibc;
  const auto kind = kind_of(version);
  const auto number = parse_version_number(version.substr(std::min(version.size(), kind.size() + 1)));
  return number ? manylinux_level(machine, kind, *number) : std::nullopt;
}

bool is_manylinux_version(std::string_view version) {
  return version.find('_') != std::string_view::npos && std::ranges::find(k_kinds, kind_of(version)) != k_kinds.end();
}

bool has_manylinux_library(const VersionNumber& tag, std::string_view library) {
  return std::ranges::any_of(libc_data().libraries, [&](const ManylinuxLibrary& one) {
    return one.name == library && (!one.since || *one.since <= tag);
  });
}

std::vector<std::string> forbidden_symbols(const VersionNumber& tag, std::string_view library) {
  std::vector<std::string> symbols;
  for (const ForbiddenSymbols& row : libc_data().forbidden)
    if (row.library == library && (!row.until || tag < *row.until))
      symbols.insert(symbols.end(), row.symbols.begin(), row.symbols.end());
  std::ranges::sort(symbols);
  return symbols;
}

}  // namespace sagekit
