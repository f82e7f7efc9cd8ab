#pragma once
// The notes of an ELF module: its build id, and the instruction set it asks for.

#include "support/bytes.hpp"

#include <sagekit/inspect.hpp>

namespace sagekit {

/// Fills `build_id` and `isa` from one note segment; whichever is set stays. Damaged notes end the reading: nothing
/// depends on them, the loader ignores them too.
void read_elf_notes(Bytes notes, std::uint16_t machine, ElfFacts& facts);

}  // namespace sagekit
