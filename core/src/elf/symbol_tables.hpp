#pragma once
// The dynamic symbol tables of an ELF library as bytes, wherever they came from, and what they say.

#include "elf/exports.hpp"
#include "support/bytes.hpp"

namespace sagekit {

/// Views; the bytes must outlive it.
struct SymbolTables {
  std::uint16_t machine = 0;
  std::string soname;
  Bytes symbols;                       ///< .dynsym
  Bytes strings;                       ///< .dynstr
  Bytes versions;                      ///< .gnu.version, as many entries as symbols; empty = none
  Bytes definitions;                   ///< .gnu.version_d; empty = none
  std::uint64_t definition_count = 0;  ///< entries of it
};

/// The symbols that other libraries can bind to. IDX030 (failed) for tables that do not fit together.
Result<ExportList> list_exports(const SymbolTables& tables);

/// Do the names belong to these symbols? Every defined global symbol must be where .gnu.hash has its name's hash, and
/// every hash there must be that of its symbol's name. A wrong byte in names or symbols does not pass.
bool names_match_hashes(const SymbolTables& tables, Bytes gnu_hash);

/// How many symbols .gnu.hash knows of, counting those before its first; nothing when it is damaged. 0 = it has none.
std::optional<std::uint64_t> count_hashed_symbols(Bytes gnu_hash);

}  // namespace sagekit
