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

/// The same for a version as modules name it: "GLIBC_2.17", "CXXABI_TM_1". Nothing also for GLIBC_PRIVATE.
std::optional<VersionNumber> manylinux_level(std::string_view machine, std::string_view version);
/// Is this a version of a library that manylinux tags speak of? "OPENSSL_3.0.0" is not.
bool is_manylinux_version(std::string_view version);

/// Does every system of a tag ("2.28") have this library? "libz.so.1".
bool has_manylinux_library(const VersionNumber& tag, std::string_view library);
/// The symbols of a library that not every system of a tag has, sorted.
std::vector<std::string> forbidden_symbols(const VersionNumber& tag, std::string_view library);

}  // namespace sagekit
