#pragma once
// The torch that a wheel says it is for, and the copy of it on this machine.

#include "verify/subject.hpp"

#include <sagekit/environment.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct DeclaredTorch {
  std::string version;  ///< "2.11.0", or "2.11" when only that much is said
  std::string cuda;     ///< "13.0"; "" = not known
  std::string from;     ///< who says it: "the build record", "sagekit.json", "the version", "Requires-Dist"

  /// "torch 2.11.0 for CUDA 13.0"
  std::string text() const;
};

/// What the record says, else the name, else the pin in METADATA. Nothing: no torch, or a range that is no pin.
std::optional<DeclaredTorch> declared_torch(const Subject& subject);

/// The sysroot of that torch for a machine ("x86_64"): of exactly its version; of a declared "2.11" the first 2.11.x.
/// Null when there is none.
const TorchSysroot* find_sysroot(const DeclaredTorch& torch, const std::vector<TorchSysroot>& sysroots,
                                 std::string_view machine);

/// The platform part of the tag its wheel had: "manylinux_2_28_x86_64". "" when no dist-info lies beside it.
std::string wheel_platform(const TorchSysroot& sysroot);

}  // namespace sagekit
