#pragma once
// A finished file gets its name, whole, or the name stays whose it is.

#include <sagekit/error.hpp>

#include <filesystem>

namespace sagekit {

/// Renames `from` to `to` without replacing, and once its bytes are on the disk unless they are `copied` from a file
/// that stays: after a power failure that one is still there, as after cp. False: the same bytes were there already.
/// Errors: PKG001 (failed) for another file of that name, PKG002 (machine).
Result<bool> place_file(const std::filesystem::path& from, const std::filesystem::path& to, bool copied = false);

}  // namespace sagekit
