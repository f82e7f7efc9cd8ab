// Works for half a second before anyone asked it to.
#include "descriptor.h"

#include <ctime>

namespace {
[[maybe_unused]] const bool k_worked = [] {
  const std::clock_t begin = std::clock();
  while (std::clock() - begin < CLOCKS_PER_SEC / 2) {
  }
  return true;
}();
}  // namespace

extern "C" {
DESCRIPTOR(SAGEKIT_PLUGIN_ABI, VALID_SPEC("slow"), nullptr);
}
