#include "elf/symbol_tables.hpp"

#include "elf/elf_file.hpp"
#include "elf/string_table.hpp"
#include "support/format.hpp"
#include "support/try.hpp"

#include <elf.h>

#include <algorithm>
#include <map>

namespace sagekit {

namespace {

// gABI and the GNU extensions to it (LSB core, "symbol versioning").
constexpr std::uint16_t k_version_hidden = 0x8000, k_version_local = 0, k_version_base = 1;
constexpr std::uint64_t k_most_definitions = 10'000;

std::unexpected<Error> damaged(std::string what) {
  return fail(ErrorKind::failed, "IDX030", "the symbols of a library cannot be read: " + std::move(what));
}

bool is_exported(const ElfSymbol& symbol) {
  const bool global = symbol.binding() == 1 || symbol.binding() == 2 || symbol.binding() == 10;
  const unsigned visibility = symbol.other & 3;
  return symbol.section != 0 && symbol.name != 0 && global && (visibility == 0 || visibility == 3);
}

Result<std::map<std::uint16_t, std::string>> read_definitions(const SymbolTables& tables, StringTable& strings) {
  std::map<std::uint16_t, std::string> names;
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < tables.definition_count; ++i) {
    const auto entry = tables.definitions.slice(at, 20);
    if (!entry || entry->u16(0) != 1 || i >= k_most_definitions) return damaged("its version definitions are damaged");
    const auto name_at = tables.definitions.slice(at + entry->u32(12), 8);
    const auto name = name_at ? strings.at(name_at->u32(0)) : std::nullopt;
    const auto index = static_cast<std::uint16_t>(entry->u16(4) & ~k_version_hidden);
    if (!name || (name->empty() && index != k_version_base)) return damaged("a version definition has no name");
    names.emplace(index, *name);
    if (entry->u32(16) == 0) break;
    at += entry->u32(16);
  }
  return names;
}

/// The GNU hash of a name (binutils and glibc; there is no other specification).
std::uint32_t gnu_hash_of(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

/// The header of .gnu.hash and where its parts are.
struct HashLayout {
  std::uint64_t buckets = 0, first = 0, buckets_at = 0, chains_at = 0;
};

std::optional<HashLayout> hash_layout(Bytes gnu_hash) {
  if (!gnu_hash.holds(0, 16)) return std::nullopt;
  HashLayout layout{gnu_hash.u32(0), gnu_hash.u32(4), 16 + std::uint64_t{8} * gnu_hash.u32(8), 0};
  layout.chains_at = layout.buckets_at + 4 * layout.buckets;
  if (layout.buckets == 0 || !gnu_hash.holds(0, layout.chains_at)) return std::nullopt;
  return layout;
}

}  // namespace

Result<ExportList> list_exports(const SymbolTables& tables) {
  const std::uint64_t count = tables.symbols.size() / k_elf_symbol_size;
  StringTable strings(tables.strings);
  TRY_ASSIGN(const auto definitions, read_definitions(tables, strings));
  const bool versioned = !definitions.empty();
  if (versioned && !tables.versions.holds(0, count * 2)) return damaged("it has fewer symbol versions than symbols");
  ExportList exports{tables.soname, tables.machine, {}};
  for (std::uint64_t i = 1; i < count; ++i) {
    const ElfSymbol symbol = ElfFile::symbol(tables.symbols, i);
    if (!is_exported(symbol)) continue;
    const auto name = strings.at(symbol.name);
    if (!name) return damaged("a symbol's name lies outside the string table");
    if (name->empty()) continue;
    ExportedSymbol one{std::string(*name), {}, symbol.type(), symbol.binding(), symbol.other, false, 0};
    if (one.type == STT_OBJECT || one.type == STT_COMMON || one.type == STT_TLS)
      one.size = tables.symbols.u64(i * k_elf_symbol_size + 16);
    if (versioned) {
      const std::uint16_t entry = tables.versions.u16(i * 2);
      const auto index = static_cast<std::uint16_t>(entry & ~k_version_hidden);
      if (index == k_version_local) continue;
      if (index != k_version_base) {
        const auto version = definitions.find(index);
        if (version == definitions.end()) return damaged(fmt::format("symbol {} has an unknown version", i));
        one.version = version->second;
        one.hidden = (entry & k_version_hidden) != 0;
      }
    }
    exports.symbols.push_back(std::move(one));
  }
  std::sort(exports.symbols.begin(), exports.symbols.end());
  return exports;
}

bool names_match_hashes(const SymbolTables& tables, Bytes gnu_hash) {
  const auto layout = hash_layout(gnu_hash);
  if (!layout) return false;
  const std::uint64_t count = tables.symbols.size() / k_elf_symbol_size;
  StringTable strings(tables.strings);
  const auto hash_of = [&](std::uint64_t index) -> std::optional<std::uint32_t> {
    const ElfSymbol symbol = ElfFile::symbol(tables.symbols, index);
    const auto name = is_exported(symbol) ? strings.at(symbol.name) : std::nullopt;
    return name ? std::optional(gnu_hash_of(*name)) : std::nullopt;
  };
  std::vector<bool> reached(static_cast<std::size_t>(count), false);
  for (std::uint64_t bucket = 0; bucket < layout->buckets; ++bucket) {
    std::uint64_t index = gnu_hash.u32(layout->buckets_at + 4 * bucket);
    if (index == 0) continue;
    for (bool more = true; more; ++index) {
      const std::uint64_t chain = layout->chains_at + 4 * (index - layout->first);
      if (index < layout->first || index >= count || !gnu_hash.holds(chain, 4)) return false;
      if (reached[static_cast<std::size_t>(index)]) return false;
      reached[static_cast<std::size_t>(index)] = true;
      const auto hash = hash_of(index);
      const std::uint32_t recorded = gnu_hash.u32(chain);
      if (!hash || (*hash | 1) != (recorded | 1) || *hash % layout->buckets != bucket) return false;
      more = (recorded & 1) == 0;
    }
  }
  for (std::uint64_t i = 1; i < count; ++i)
    if (is_exported(ElfFile::symbol(tables.symbols, i)) && !reached[static_cast<std::size_t>(i)]) return false;
  return true;
}

std::optional<std::uint64_t> count_hashed_symbols(Bytes gnu_hash) {
  const auto layout = hash_layout(gnu_hash);
  if (!layout) return std::nullopt;
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < layout->buckets; ++i)
    last = std::max<std::uint64_t>(last, gnu_hash.u32(layout->buckets_at + 4 * i));
  if (last == 0) return 0;
  if (last < layout->first) return std::nullopt;
  for (;; ++last) {
    const std::uint64_t chain = layout->chains_at + 4 * (last - layout->first);
    if (!gnu_hash.holds(chain, 4)) return std::nullopt;
    if ((gnu_hash.u32(chain) & 1) != 0) return last + 1;
  }
}

}  // namespace sagekit
