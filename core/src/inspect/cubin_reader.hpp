#pragma once
// What a cubin (ELF of machine number 190) says about itself: its arch, the toolkit that made it, its kernels.

#include "inspect/bytes.hpp"
#include "inspect/problems.hpp"

#include <sagekit/arch.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sagekit {

struct CubinFacts {
  Arch arch;                         ///< the suffix is reliable only when `suffix_known`
  bool suffix_known = false;         ///< the recorded ptxas options name the arch
  std::string toolkit;               ///< "13.0"; "" = not recorded
  std::vector<std::string> kernels;  ///< mangled, in symbol order; a local kernel counts too
};

bool looks_like_cubin(Bytes bytes);

/// Nothing (and a problem FAT007) when it cannot be read. `kernels` false leaves the symbol table alone.
std::optional<CubinFacts> read_cubin(Bytes bytes, bool kernels, Problems& problems);

}  // namespace sagekit
