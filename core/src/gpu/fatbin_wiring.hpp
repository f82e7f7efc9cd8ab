#pragma once
// How a host module registers its fatbins with the CUDA runtime: by wrappers of 24 bytes in .nvFatBinSegment, each with
// a pointer to one container.

#include "elf/elf_file.hpp"
#include "gpu/gpu_code.hpp"
#include "elf/pe_reader.hpp"

#include <sagekit/inspect.hpp>

#include <optional>

namespace sagekit {

/// Nothing when the module has no containers where the runtime looks, or is not linked yet.
std::optional<FatbinWiring> read_wiring(const ElfFile& file, const GpuCodeFacts& code);
std::optional<FatbinWiring> read_wiring(const PeFile& file, Bytes bytes, const GpuCodeFacts& code);

}  // namespace sagekit
