#include "index/exports.hpp"

#include "index/symbol_tables.hpp"
#include "inspect/elf_file.hpp"
#include "support/format.hpp"

#include <map>

namespace sagekit {

namespace {

// Dynamic tags (gABI; the GNU ones from the LSB and glibc's elf.h).
constexpr std::uint64_t k_hash = 4, k_strings = 5, k_symbols = 6, k_strings_size = 10, k_soname = 14,
                        k_gnu_hash = 0x6ffffef5, k_versions = 0x6ffffff0, k_definitions = 0x6ffffffc,
                        k_definition_count = 0x6ffffffd;

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
  if (const auto tag = values.find(k_hash); tag != values.end()) {
    const auto hash = file.at_address(tag->second, 8);
    return hash ? std::optional<std::uint64_t>(hash->u32(4)) : std::nullopt;
  }
  if (const auto tag = values.find(k_gnu_hash); tag != values.end()) {
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
  if (file->type() != elf::type_shared ||
      (file->machine() != elf::machine_x86_64 && file->machine() != elf::machine_aarch64))
    return unreadable("it is no shared library for x86_64 or aarch64");
  std::map<std::uint64_t, std::uint64_t> values;
  for (const ElfSegment& segment : file->segments()) {
    if (segment.type != elf::segment_dynamic) continue;
    values = read_dynamic(file->bytes().slice(segment.offset, segment.file_size).value_or(Bytes()));
    break;
  }
  const auto strings = file->at_address(values[k_strings], values[k_strings_size]);
  const auto symbols = file->from_address(values[k_symbols]);
  const auto count = count_symbols(*file, values);
  if (!strings || !symbols || !count) return unreadable("its dynamic segment leads to no symbols");
  const auto table =
      *count <= symbols->size() / elf::symbol_size ? symbols->slice(0, *count * elf::symbol_size) : std::nullopt;
  if (!table) return unreadable("its symbol table is cut off");

  SymbolTables tables{file->machine(), {}, *table, *strings, {}, {}, 0};
  if (const auto soname = values.find(k_soname); soname != values.end()) {
    const auto text = strings->c_string(soname->second);
    if (!text) return unreadable("its soname lies outside the string table");
    tables.soname = *text;
  }
  if (values.contains(k_definitions)) {
    tables.definition_count = values[k_definition_count];
    tables.definitions = file->from_address(values[k_definitions]).value_or(Bytes());
    tables.versions = file->at_address(values[k_versions], 2 * *count).value_or(Bytes());
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
