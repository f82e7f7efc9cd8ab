#include "plan/half_costs.hpp"

namespace sagekit {

namespace {

/// Headers without torch: a third of the memory (fused.cu 278 of 1,036 MB, sm90 356 of 1,107 MB; docs/measured.md).
constexpr std::uint64_t k_shimmed_memory = 3;

}  // namespace

Cost host_cost(const Cost& compile, std::size_t archs) {
  return {compile.cpu_seconds * k_host_pass_share / cpu_for_arches(1, archs), compile.memory_bytes};
}

Cost device_cost(const Cost& compile, std::size_t archs, bool shimmed) {
  const auto memory = compile.device_memory_bytes > 0 ? compile.device_memory_bytes
                                                      : compile.memory_bytes / (shimmed ? k_shimmed_memory : 1);
  return {compile.cpu_seconds * (1 - k_host_pass_share) / cpu_for_arches(1, archs), memory};
}

}  // namespace sagekit
