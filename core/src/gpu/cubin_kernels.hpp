#pragma once
// The kernels of a cubin and what each of them needs.

#include "gpu/cubin_reader.hpp"
#include "elf/elf_file.hpp"

namespace sagekit {

/// Adds the kernels, and with `resources` what they need, to `facts`, whose arch is known. False: the symbol table or a
/// kernel's sections are damaged.
bool read_cubin_kernels(const ElfFile& file, bool resources, CubinFacts& facts);

}  // namespace sagekit
