// An ELF module: dynamic segment, symbols, GPU sections, and code outside them.
#include "elf/elf_file.hpp"
#include "elf/symbol_name.hpp"
#include "fuzz_target.hpp"
#include "inspect/module_reader.hpp"

#include <algorithm>
#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(elf) {
  const Bytes file(std::string_view(reinterpret_cast<const char*>(data), size));
  InspectOptions options;
  options.kernels = true;
  if (!ElfFile::looks_like(file)) return 0;
  const auto facts = read_module("fuzz.so", file, options, 1).facts;
  if (!facts.elf) return 0;
  for (const auto& symbol : facts.elf->undefined)
    if (name_for_people(symbol).size() > 3 * symbol.size() + 64) std::abort();
  for (const auto& [version, names] : facts.elf->wanted_by)
    for (const auto& name : names)
      if (!std::ranges::binary_search(facts.elf->undefined, name)) std::abort();
  if (facts.elf->debug_bytes > size || facts.elf->build_id.size() > 128 || facts.elf->interpreter.size() > size)
    std::abort();
  return 0;
}
