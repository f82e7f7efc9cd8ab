#pragma once
// A lock's entry against what a tree was made of.

#include "toolchain/lock.hpp"

namespace sagekit {

/// PRV006 (failed) with the line of the lock when any of it differs: version, CUDA, platform, source, a file or one of
/// its hashes, a list of exported symbols. A sha256 that an index did not give does not count. An empty `made_of.id` is
/// not known yet.
Status check_made_of(const LockedTree& pinned, const LockedTree& made_of, const ProvisionOptions& options);

}  // namespace sagekit
