// A Windows module: headers, imports, exports, GPU sections.
#include "elf/pe_reader.hpp"
#include "fuzz_target.hpp"
#include "inspect/module_reader.hpp"

#include <algorithm>
#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(pe) {
  const Bytes file(std::string_view(reinterpret_cast<const char*>(data), size));
  InspectOptions options;
  options.kernels = true;
  if (!looks_like_pe(file)) return 0;
  const auto facts = read_module("fuzz.pyd", file, options, 1).facts;
  if (!facts.pe) return 0;
  std::size_t letters = 0;
  for (const auto& [library, names] : facts.pe->imported) {
    if (!std::ranges::binary_search(facts.pe->imports, library)) std::abort();
    for (const auto& name : names) letters += name.size();
  }
  if (letters > 16 * size + (2 << 20)) std::abort();  // names may be read more than once, but not without bound
  return 0;
}
