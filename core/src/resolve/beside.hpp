#pragma once
// What lies beside the wheels of a folder and says something of them.

#include <sagekit/resolve.hpp>

#include <filesystem>
#include <vector>

namespace sagekit {

/// What the sagekit.release.json of a folder says of its wheels holds for them however they were found: the hash, and
/// what was measured. Wheels that it does not list are as they were. Errors: FIL001; RES004 it cannot be read.
Status hold_to_manifest(std::vector<Candidate>& wheels, const std::filesystem::path& folder);
/// By the yanked.toml of a folder. Errors: those of read_yanked.
Status mark_yanked(std::vector<Candidate>& wheels, const std::filesystem::path& folder);

}  // namespace sagekit
