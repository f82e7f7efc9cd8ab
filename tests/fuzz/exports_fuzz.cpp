// A library's exports, of Linux or Windows, and a link stub of them: reading the stub must give the same exports again.
#include "elf/dll_exports.hpp"
#include "elf/exports.hpp"
#include "elf/symbol_tables.hpp"
#include "fuzz_target.hpp"

#include <cstdlib>

using namespace sagekit;

SAGEKIT_FUZZ_TARGET(exports) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // The tables alone too, cut out of the input: what reading from a wheel's ranges hands over.
  const Bytes input(bytes);
  const std::uint64_t symbols = size / 2 / 24 * 24;
  const SymbolTables tables{62,
                            "libfuzz.so",
                            input.slice(0, symbols).value_or(Bytes()),
                            input.from(symbols),
                            input.from(symbols),
                            input.from(symbols + 7),
                            size % 5};
  (void)names_match_hashes(tables, input.from(symbols + 11));
  (void)list_exports(tables);
  if (const auto dll = read_dll_exports(bytes); dll && read_dll_exports(link_stub(*dll)) != *dll) std::abort();
  (void)read_export_directory(input, static_cast<std::uint32_t>(size % 64));
  const auto exports = read_exports(bytes);
  if (!exports) return 0;
  (void)export_text(*exports);
  if (read_exports(link_stub(*exports)) != *exports) std::abort();
  return 0;
}
