#pragma once
// What compiling takes, as a plugin estimates it.

#include <cstddef>
#include <cstdint>

namespace sagekit {

/// Compile cost, measured once: CPU seconds and peak bytes of one translation unit.
struct Cost {
  double cpu_seconds = 0;
  std::uint64_t memory_bytes = 0;
  /// Of GPU code that is made by itself; 0 = as the rest, or a third of it with a device-only header.
  std::uint64_t device_memory_bytes = 0;

  /// Of either half.
  std::uint64_t peak_bytes() const { return memory_bytes > device_memory_bytes ? memory_bytes : device_memory_bytes; }
  bool operator==(const Cost&) const = default;
};

/// Share of a .cu's CPU for one arch that further arches do not add: cudafe++ and the host compiler run once
/// (phases of sage2's and sage3's kernels: 14 to 36 % with lean headers).
constexpr double k_host_pass_share = 0.3;
/// CPU seconds of a .cu for so many arches, by those for one.
constexpr double cpu_for_arches(double one_arch, std::size_t arches) {
  return one_arch * (k_host_pass_share + (1 - k_host_pass_share) * static_cast<double>(arches));
}

}  // namespace sagekit
