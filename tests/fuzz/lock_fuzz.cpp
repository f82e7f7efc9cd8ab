// Any bytes as sagekit.lock, which travels with a repository: a lock that is written and read again as itself, or PRV003.
#include "fuzz_target.hpp"
#include "toolchain/lock.hpp"

#include <cstdint>
#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(lock) {
  const auto lock = parse_lock({reinterpret_cast<const char*>(data), size}, "sagekit.lock");
  if (!lock) {
    if (lock.error().code != "PRV003") std::abort();
    return 0;
  }
  const auto again = parse_lock(lock_text(*lock), "sagekit.lock");
  if (!again || again->trees != lock->trees) std::abort();
  return 0;
}
