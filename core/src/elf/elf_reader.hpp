#pragma once
// What the loader sees of an ELF module: machine, needed libraries, versions, dynamic symbols.

#include "elf/elf_file.hpp"

#include <sagekit/inspect.hpp>

namespace sagekit {

/// Facts of an x86_64 or aarch64 module. Everything comes from the dynamic segment, which is what the loader follows;
/// the section table is used for the number of symbols and for debug sections only. Damage is a problem. `all_symbols`:
/// see InspectOptions::symbols.
ElfFacts read_elf_facts(const ElfFile& file, bool all_symbols, Problems& problems);

/// Is it how Python starts an extension module? (PEP 489; PEP 793)
bool is_python_init(std::string_view symbol);

/// "x86_64", "aarch64", else "em_<number>".
std::string elf_machine_name(std::uint16_t machine);

}  // namespace sagekit
