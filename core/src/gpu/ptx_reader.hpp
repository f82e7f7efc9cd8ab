#pragma once
// PTX, the text form of GPU code: its ISA version, target and kernels.

#include <sagekit/arch.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct PtxFacts {
  Arch arch;  ///< .target
  int version_major = 0, version_minor = 0;
  std::vector<std::string> kernels;  ///< .entry names in text order
};

/// Is the first directive of this text `.version`?
bool looks_like_ptx(std::string_view text);

/// Nothing when `.version` or `.target` is missing or unknown. The text ends at the first NUL.
std::optional<PtxFacts> read_ptx(std::string_view text, bool kernels);

}  // namespace sagekit
