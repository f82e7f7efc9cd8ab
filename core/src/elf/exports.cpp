#include "elf/exports.hpp"

#include "elf/symbol_tables.hpp"
#include "elf/elf_file.hpp"
#include "support/format.hpp"

#include <elf.h>

#include <map>

namespace sagekit {

namespace {

std::unexpected<Error> unreadable(std::string why) {
  return fail(ErrorKind::failed, "IDX030", "the library's exports cannot be read: " + std::move(why));
}

std::map<std::uint64_t, std::uint64_t> read_dynamic(Bytes dynamic) {
  std::map<std::uint64_t, std::uint64_t> values;
  for (std::uint64_t at = 0; dynamic.holds(at, 16) && dynamic.u64(at) != 0; at += 16)
    values.emplace(dynamic.u64(at), dynamic.u64(at + 8));
  return values;
}

/// The dynamic segment never says how many symbols there are; the hash tables do.
std::optional<std::uint64_t> count_symbols(const ElfFile& file, const std::map<std::uint64_t, std::uint64_t>& values) {
  if (const auto tag = values.find(DT_HASH); tag != values.end()) {
    const auto hash = file.at_address(tag->second, 8);
    return hash ? std::optional<std::uint64_t>(hash->u32(4)) : std::nullopt;
  }
  if (const auto tag = values.find(DT_GNU_HASH); tag != values.end()) {
    const auto hash = file.from_address(tag->second);
    return hash ? count_hashed_symbols(*hash) : std::nullopt;
  }
  return std::nullopt;
}

/// One symbol's or name's text for a line: separators and what is not plain ASCII as \xNN.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && c != '\\' && c != '@')
      out += c;
    else
      out += fmt::format("\\x{:02x}", byte);
  }
  return out;
}

}  // namespace

Result<ExportList> read_exports(std::string_view library) {
  Problems problems("the library");
  const auto file = ElfFile::read(Bytes(library), problems);
  if (!file) return unreadable(problems.list().front().message);
  if (file->type() != ET_DYN ||
      (file->machine() != EM_X86_64 && file->machine() != EM_AARCH64))
    return unreadable("it is no shared library for x86_64 or aarch64");
  std::map<std::uint64_t, std::uint64_t> values;
  for (const ElfSegment& segment : file->segments()) {
    if (segment.type != PT_DYNAMIC) continue;
    values = read_dynamic(file->bytes().slice(segment.offset, segment.file_size).value_or(Bytes()));
    break;
  }
  const auto strings = file->at_address(values[DT_STRTAB], values[DT_STRSZ]);
  const auto symbols = file->from_address(values[DT_SYMTAB]);
  const auto count = count_symbols(*file, values);
  if (!strings || !symbols || !count) return unreadable("its dynamic segment leads to no symbols");
  const auto table =
      *count <= symbols->size() / k_elf_symbol_size ? symbols->slice(0, *count * k_elf_symbol_size) : std::nullopt;
  if (!table) return unreadable("its symbol table is cut off");

  SymbolTables tables{file->machine(), {}, *table, *strings, {}, {}, 0};
  if (const auto soname = values.find(DT_SONAME); soname != values.end()) {
    const auto text = strings->c_string(soname->second);
    if (!text) return unreadable("its soname lies outside the string table");
    tables.soname = *text;
  }
  if (values.contains(DT_VERDEF)) {
    tables.definition_count = values[DT_VERDEFNUM];
    tables.definitions = file->from_address(values[DT_VERDEF]).value_or(Bytes());
    tables.versions = file->at_address(values[DT_VERSYM], 2 * *count).value_or(Bytes());
  }
  return list_exports(tables);
}

std::string export_text(const ExportList& exports) {
  std::string text = fmt::format("soname {}\nmachine {}\n", escaped(exports.soname), exports.machine);
  for (const ExportedSymbol& symbol : exports.symbols) {
    text += escaped(symbol.name);
    if (!symbol.version.empty()) text += (symbol.hidden ? "@" : "@@") + escaped(symbol.version);
    text += fmt::format(" {} {} {} {}\n", symbol.type, symbol.binding, symbol.visibility, symbol.size);
  }
  return text;
}

}  // namespace sagekit
