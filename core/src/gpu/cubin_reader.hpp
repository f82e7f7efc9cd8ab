#pragma once
// What a cubin (ELF of machine number 190) says about itself: its arch, the toolkit that made it, its kernels.

#include "support/bytes.hpp"
#include "support/problems.hpp"

#include <sagekit/inspect.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sagekit {

/// How much of a cubin is read: its header and notes, its kernels' names, or what each of them needs.
enum class CubinDetail { header, kernels, resources };

struct CubinFacts {
  Arch arch;                                ///< the suffix is reliable only when `suffix_known`
  bool suffix_known = false;                ///< the recorded ptxas options name the arch
  std::optional<Capability> compiled_from;  ///< the virtual arch (compute_XX) that ptxas was given; without suffix
  std::string toolkit;                      ///< "13.0"; "" = not recorded
  std::vector<std::string> kernels;         ///< mangled, in symbol order; a local kernel counts too
  std::vector<KernelResources> resources;   ///< instead of `kernels`, with CubinDetail::resources
  std::vector<std::size_t> global_names;    ///< hashes of those that no second file may define
};

bool looks_like_cubin(Bytes bytes);

/// The SM number in the header of a cubin whose beginning this is; nothing when the ABI is unknown. Its first 64 bytes
/// are enough.
std::optional<Capability> cubin_capability(Bytes beginning);

/// Nothing (and a problem FAT007) when it cannot be read.
std::optional<CubinFacts> read_cubin(Bytes bytes, CubinDetail detail, Problems& problems);

}  // namespace sagekit
