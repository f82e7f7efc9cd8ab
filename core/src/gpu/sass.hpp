#pragma once
// Machine code of NVIDIA GPUs (SASS) as far as it can be judged without a disassembler: how much local memory it moves
// and whether anything is left of a kernel's body. The encoding has no public specification; what is used of it was
// compared with nvdisasm on every arch of CUDA 13 (docs/findings/FAT.md).

#include "support/bytes.hpp"

#include <sagekit/inspect.hpp>

#include <cstdint>

namespace sagekit {

struct SassFacts {
  std::uint64_t instructions = 0;  ///< without NOPs and the endless loop behind the last instruction
  std::uint64_t local_load_bytes = 0, local_store_bytes = 0;
  std::uint64_t traps = 0;             ///< BPT.TRAP: __trap(), __brkpt(), trap of PTX
  std::uint64_t mma_instructions = 0;  ///< of the tensor cores: HMMA, QMMA, QGMMA, UTCQMMA and their kin
  KernelResources::Body body = KernelResources::Body::full;
};

/// Are instructions of this arch 16 bytes of the known layout (from compute capability 7.0 on)?
bool sass_is_known(Capability capability);

/// `code`: one kernel with the functions behind it, as in its .text section; `sass_is_known` must hold. Time is linear
/// in its size.
SassFacts read_sass(Bytes code, Capability capability);

}  // namespace sagekit
