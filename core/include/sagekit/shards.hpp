#pragma once
// A build's work over several machines: which of them does what, decided by each for itself and by all alike.

#include <sagekit/error.hpp>
#include <sagekit/export.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct Plan;

/// The `index`-th of `count` parts, from 1.
struct Shard {
  std::size_t index = 1, count = 1;
};

/// "2/8". Error CLI002 (usage).
SAGEKIT_API Result<Shard> parse_shard(std::string_view text);

/// A piece of work that nothing else must precede.
struct ShardItem {
  double cost = 0;  ///< CPU seconds, estimated from data that all machines share
  std::string id;
};

/// The shard of each item, from 0: the dearest first, each to the shard with the least so far (longest processing time
/// first; no worse than 4/3 of the best, Graham 1969). Depends on the set of items and on `count`, not on their order.
SAGEKIT_API std::vector<std::size_t> assign_shards(const std::vector<ShardItem>& items, std::size_t count);

/// What one machine makes.
struct ShardPart {
  std::vector<std::string> steps;  ///< ids, sorted
  double cpu_seconds = 0;          ///< GPU code that its steps share is counted once, as it is made
};

/// The plan's compilations over so many shards. Steps that share GPU code stay together unless all end sooner when two
/// machines make it. What joins their results (links) is in none: the machine that makes the wheels does it. A plan
/// without steps has empty ones.
SAGEKIT_API std::vector<ShardPart> parts_of(const Plan& plan, std::size_t count);
/// The step ids alone.
SAGEKIT_API std::vector<std::vector<std::string>> shards_of(const Plan& plan, std::size_t count);

/// {"schema":"sagekit.shards/1", ...}: all of them, or only the `shard`-th (from 1).
SAGEKIT_API std::string shards_json(const Plan& plan, std::size_t count, std::size_t shard = 0);

}  // namespace sagekit
