#pragma once
// Flags of build about stores, shards and launchers.

#include "session.hpp"

#include <sagekit/build.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace sagekit::host {

struct StoreArguments {
  std::vector<std::string> from;
  bool push = false, require_hits = false;
  std::uint64_t max_bytes = 0;  ///< 0 = no limit
  std::string launcher, shard;
};

void declare_store_levels(Flags& flags, StoreArguments& arguments);

/// Into the options of a build. Errors (usage): CLI002 a shard that is none, CLI006 flags that contradict each other;
/// (machine): CMD001 a launcher that cannot be started.
Status apply_store(const Session& session, const StoreArguments& arguments, const std::string& ca_bundle,
                   BuildOptions& options);

/// Keeps the store within its limit, and says what that removed.
void trim_to_limit(const Session& session, const StoreArguments& arguments, const std::filesystem::path& store);

}  // namespace sagekit::host
