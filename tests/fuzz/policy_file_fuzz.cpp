// A policy file: whatever the text is, a policy or reasons with places.
#include "fuzz_target.hpp"

#include <sagekit/verify.hpp>

#include <cstdint>
#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(policy_file) {
  const auto read = parse_policy_file({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  if (!read && read.error().empty()) std::abort();
  return 0;
}
