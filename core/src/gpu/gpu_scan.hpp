#pragma once
// GPU code that lies outside the sections made for it: whole libraries keep their fatbins or bare cubins in read-only
// data.

#include "support/bytes.hpp"
#include "support/problems.hpp"

#include <cstdint>
#include <vector>

namespace sagekit {

/// A stretch of a file.
struct FileStretch {
  std::uint64_t offset = 0, size = 0;
};

struct HiddenCode {
  std::vector<Bytes> fatbins;  ///< each one container
  std::vector<Bytes> cubins;   ///< each one ELF file
};

/// Looks at every 8-byte boundary of `file` outside `known` (sorted, not overlapping) for the start of a fatbin
/// container with content or of a cubin. A start that does not fit is a problem. `passed` is told what was looked at.
HiddenCode find_hidden_code(Bytes file, const std::vector<FileStretch>& known, Problems& problems,
                            const PassedBytes& passed = {});

}  // namespace sagekit
