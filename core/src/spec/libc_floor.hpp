#pragma once
// What [build] glibc_floor means: which of sagekit's own headers it takes, and which manylinux tag symbol versions
// allow.

#include "spec/data.hpp"

#include <sagekit/spec.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace sagekit {

/// The floor's headers are the folder {shim-glibc-floor} of a plan; no [[build.shim]] may have that name.
inline constexpr std::string_view k_floor_shim = "glibc-floor";

/// The headers that keep code compiled for linux at or below `floor` ("2.17"), as rows of one shim. Empty when it needs
/// none: no floor, or one that has all.
std::vector<Shim> floor_shims(std::string_view floor);
bool needs_floor_shim(std::string_view floor);

/// The machine's first glibc when the floor is older: nothing older can be asked of it.
VersionNumber floor_on(std::string_view machine, const VersionNumber& floor);

/// The oldest level of the machine that has symbol version `number` of `kind` ("GLIBC", "GLIBCXX", "CXXABI", "GCC").
/// For a glibc newer than all levels that glibc itself (PEP 600 needs no table for it). Nothing: no known level has it,
/// or the machine is not known.
std::optional<VersionNumber> manylinux_level(std::string_view machine, std::string_view kind,
                                             const VersionNumber& number);

}  // namespace sagekit
