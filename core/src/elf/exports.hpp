#pragma once
// What a shared library exports: names, types, versions. All that a linker takes from it.

#include <sagekit/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct ExportedSymbol {
  std::string name;             ///< "_ZN3c105ErrorC1E..."
  std::string version;          ///< "libcudart.so.13"; "" = unversioned
  std::uint8_t type = 0;        ///< STT_NOTYPE 0, OBJECT 1, FUNC 2, TLS 6, GNU_IFUNC 10
  std::uint8_t binding = 1;     ///< STB_GLOBAL 1, WEAK 2, GNU_UNIQUE 10
  std::uint8_t visibility = 0;  ///< st_other as it is: 0 default, 3 protected, and flags of the CPU (aarch64: 0x80)
  bool hidden = false;          ///< not the default version of that name (name@version)
  std::uint64_t size = 0;       ///< of objects; 0 for functions: a linker does not look at it
  auto operator<=>(const ExportedSymbol&) const = default;
};

struct ExportList {
  std::string soname;                   ///< "libtorch_cpu.so"; "" = none
  std::uint16_t machine = 0;            ///< e_machine: 62 x86_64, 183 aarch64
  std::vector<ExportedSymbol> symbols;  ///< defined, global or weak, default or protected visibility; sorted
  bool operator==(const ExportList&) const = default;
};

/// From a whole library's bytes. ELF problems are errors (IDX030, failed).
Result<ExportList> read_exports(std::string_view library);

/// The canonical text of it, a line a symbol: what a lock hashes.
std::string export_text(const ExportList& exports);

/// A shared library to link against: same soname, machine, names, types, bindings, versions, and no code. A link
/// against it gives the same bytes as one against the real library. Deterministic. Made without any assembler, so for
/// every CPU. `code`: machine code, free of addresses, that every function is, so that the stub can also be loaded and
/// called; "" = they have no content.
std::string link_stub(const ExportList& exports, std::string_view code = {});

}  // namespace sagekit
