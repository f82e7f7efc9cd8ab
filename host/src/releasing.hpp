#pragma once
// What the verbs about releases share: a folder of wheels or a manifest, as a value.

#include "session.hpp"

#include <sagekit/release.hpp>
#include <sagekit/yanked.hpp>

#include <filesystem>
#include <stop_token>
#include <vector>

namespace sagekit::host {

struct GivenRelease {
  Scan scan;
  std::filesystem::path folder;     ///< that holds the wheels; empty = a manifest was given
  std::vector<YankedFiles> yanked;  ///< of the yanked.toml there, by which the wheels are marked
};

/// Reads a folder of wheels, or a manifest. Wheels that are refused are said on the console and stay in `scan`. Errors:
/// FIL001, REL001 to REL005 of a yanked.toml, REL015, REL016 (no_match) no wheel is there. `skip`: a folder in it that
/// is not looked into.
Result<GivenRelease> read_given_release(const Session& session, const std::filesystem::path& given,
                                        ScanOptions options = {});

/// Judges the wheels of a given folder with all loaded plugins; shows how far it is. Errors: those of judge_release.
Status judge_given(const Session& session, GivenRelease& given, const std::stop_token& stop = {});

}  // namespace sagekit::host
