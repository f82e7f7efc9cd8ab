#include "elf/elf_reader.hpp"

#include "elf/elf_notes.hpp"
#include "elf/string_table.hpp"
#include "support/format.hpp"
#include "support/sort_once.hpp"
#include "support/text.hpp"

#include <elf.h>

#include <algorithm>
#include <map>

namespace sagekit {

namespace {

constexpr std::size_t k_max_versions = 10'000, k_max_path = 4096;
constexpr int k_max_note_segments = 16;           // they may all lie over the same bytes; linkers make two or three
constexpr std::uint16_t k_version_mask = 0x7fff;  // the bit above marks versions that are not the default

/// The dynamic segment, taken apart once.
class DynamicReader {
 public:
  DynamicReader(const ElfFile& file, bool all_symbols, ElfFacts& facts, Problems& problems)
      : m_file(file), m_all_symbols(all_symbols), m_facts(facts), m_problems(problems) {}

  void read(Bytes dynamic) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> text;
    bool ended = false;
    for (std::uint64_t at = 0; dynamic.holds(at, 16) && !ended; at += 16) {
      const std::uint64_t tag = dynamic.u64(at);
      const std::uint64_t value = dynamic.u64(at + 8);
      ended = tag == 0;
      if (tag == DT_NEEDED || tag == DT_SONAME || tag == DT_RPATH || tag == DT_RUNPATH)
        text.emplace_back(tag, value);
      else
        m_values.emplace(tag, value);
    }
    if (!ended) m_problems.error("INS024", "the ELF dynamic segment has no end");
    if (const auto strings = m_file.at_address(value(DT_STRTAB), value(DT_STRSZ)))
      m_strings = StringTable(*strings);
    else
      m_problems.error("INS024", "the ELF dynamic strings lie outside the file");
    for (const auto& [tag, offset] : text) read_text(tag, string(offset));
    m_facts.text_relocations = m_values.contains(DT_TEXTREL) || (value(DT_FLAGS) & DF_TEXTREL) != 0;
    m_bind_now = m_values.contains(DT_BIND_NOW) || (value(DT_FLAGS) & DF_BIND_NOW) != 0 ||
                 (value(DT_FLAGS_1) & DF_1_NOW) != 0;
    if (m_values.contains(DT_VERNEED)) read_versions();
    if (m_values.contains(DT_SYMTAB)) read_symbols();
  }

  /// All symbols are bound before the module runs, so that its tables of addresses can be made read-only.
  bool bind_now() const { return m_bind_now; }

 private:
  std::uint64_t value(std::uint64_t tag) const {
    const auto found = m_values.find(tag);
    return found == m_values.end() ? 0 : found->second;
  }

  std::string string(std::uint64_t offset) {
    const auto text = m_strings.at(offset);
    if (!text && !m_reported) m_problems.error("INS025", "an ELF dynamic string lies outside the string table");
    m_reported = m_reported || !text;
    return std::string(text.value_or(std::string_view{}));
  }

  void read_text(std::uint64_t tag, std::string text) {
    if (tag == DT_NEEDED)
      m_facts.needed.push_back(std::move(text));
    else if (tag == DT_SONAME)
      m_facts.soname = std::move(text);
    else
      for (auto& path : split(text, ':')) m_facts.run_paths.push_back(std::move(path));
  }

  void read_versions() {
    const auto table = m_file.from_address(value(DT_VERNEED));
    std::uint64_t at = 0;
    for (std::uint64_t i = 0; i < value(DT_VERNEEDNUM); ++i) {
      const auto need = table ? table->slice(at, 16) : std::nullopt;
      if (!need || need->u16(0) != 1) {
        m_problems.error("INS026", "the ELF version table is damaged");
        return;
      }
      const std::string library = string(need->u32(4));
      if (!read_library_versions(*table, at + need->u32(8), need->u16(2), library)) return;
      if (need->u32(12) < 16) return;
      at += need->u32(12);
    }
  }

  bool read_library_versions(Bytes table, std::uint64_t at, std::uint16_t count, const std::string& library) {
    for (std::uint16_t i = 0; i < count; ++i) {
      const auto entry = table.slice(at, 16);
      if (!entry || m_facts.wanted_versions.size() >= k_max_versions) {
        m_problems.error("INS026", "the ELF version table is damaged");
        return false;
      }
      add_version(library, string(entry->u32(8)), entry->u16(6));
      if (entry->u32(12) < 16) break;
      at += entry->u32(12);
    }
    return true;
  }

  void add_version(const std::string& library, const std::string& name, std::uint16_t index) {
    m_facts.wanted_versions.push_back(library + ":" + name);
    m_version_of.emplace(index & k_version_mask, m_facts.wanted_versions.size() - 1);
    const std::size_t bar = name.rfind('_');
    if (bar == std::string::npos) return;
    const auto version = parse_version_number(std::string_view(name).substr(bar + 1));
    if (!version) return;  // GLIBC_PRIVATE, GLIBC_ABI_DT_RELR: names, not numbers; wanted_versions has them
    std::string& highest = m_facts.versions[name.substr(0, bar)];
    const auto known = parse_version_number(highest);
    if (!known || *known < *version) highest = name.substr(bar + 1);
  }

  /// Entries of the dynamic symbol table. The loader never needs that number; the section table or the hash tables say
  /// it.
  std::uint64_t symbol_count(Bytes table) {
    for (const ElfSection& section : m_file.sections()) {
      if (section.type != SHT_DYNSYM) continue;
      if (section.address != value(DT_SYMTAB) || section.size % k_elf_symbol_size != 0)
        m_problems.error("INS027", "the ELF section table and the dynamic segment disagree about the symbols");
      return section.size / k_elf_symbol_size;
    }
    if (const auto hash = m_file.at_address(value(DT_HASH), 8); hash && m_values.contains(DT_HASH)) return hash->u32(4);
    if (m_values.contains(DT_GNU_HASH)) return gnu_hash_count(table);
    m_problems.error("INS027", "nothing in this ELF file says how many symbols it has");
    return 0;
  }

  /// One more than the highest symbol of any chain (the layout is described in binutils' and glibc's sources).
  std::uint64_t gnu_hash_count(Bytes symbols) {
    const auto damaged = [&] {
      m_problems.error("INS027", "the ELF symbol hash table is damaged");
      return std::uint64_t{0};
    };
    const auto hash = m_file.from_address(value(DT_GNU_HASH));
    if (!hash || !hash->holds(0, 16)) return damaged();
    const std::uint64_t buckets = hash->u32(0);
    const std::uint64_t first = hash->u32(4);
    const std::uint64_t bucket_offset = 16 + std::uint64_t{8} * hash->u32(8);
    if (!hash->holds(bucket_offset, buckets * 4)) return damaged();
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < buckets; ++i) last = std::max<std::uint64_t>(last, hash->u32(bucket_offset + i * 4));
    if (last < first) {
      // No symbol is hashed: this module defines none, and its undefined ones end where the strings begin, in every
      // linker's layout.
      const std::uint64_t strings = value(DT_STRTAB);
      return strings > value(DT_SYMTAB) ? (strings - value(DT_SYMTAB)) / k_elf_symbol_size : 0;
    }
    const std::uint64_t chains = bucket_offset + buckets * 4;
    for (;; ++last) {
      const std::uint64_t chain = chains + (last - first) * 4;
      if (!hash->holds(chain, 4) || !symbols.holds(last * k_elf_symbol_size, k_elf_symbol_size)) return damaged();
      if ((hash->u32(chain) & 1) != 0) return last + 1;
    }
  }

  /// The version index of each symbol; empty when the module has none.
  Bytes symbol_versions(std::uint64_t count) {
    if (!m_values.contains(DT_VERSYM)) return {};
    const auto table = m_file.from_address(value(DT_VERSYM));
    const auto versions = table ? table->slice(0, count * 2) : std::nullopt;
    if (!versions) m_problems.error("INS026", "the ELF version table is damaged");
    return versions.value_or(Bytes());
  }

  void read_symbols() {
    const auto rest = m_file.from_address(value(DT_SYMTAB));
    const std::uint64_t count = rest ? symbol_count(*rest) : 0;
    const auto table =
        rest && count <= rest->size() / k_elf_symbol_size ? rest->slice(0, count * k_elf_symbol_size) : std::nullopt;
    if (!table) {
      m_problems.error("INS027", "the ELF dynamic symbols lie outside the file");
      return;
    }
    const Bytes versions = symbol_versions(count);
    for (std::uint64_t i = 1; i < count && !m_strings.broken(); ++i) {
      const ElfSymbol symbol = ElfFile::symbol(*table, i);
      if (symbol.binding() == 0 || symbol.name == 0) continue;  // local: sections and files, nobody links to them
      if (!m_all_symbols) {
        if (symbol.section == 0 || !m_strings.begins(symbol.name, "Py")) continue;
        if (std::string name = string(symbol.name); is_python_init(name)) m_facts.exports.push_back(std::move(name));
        continue;
      }
      std::string name = string(symbol.name);
      if (symbol.section != 0) {
        m_facts.exports.push_back(std::move(name));
        continue;
      }
      if (symbol.binding() == 2) m_facts.undefined_weak.push_back(name);
      const auto version =
          versions.empty() ? m_version_of.end() : m_version_of.find(versions.u16(i * 2) & k_version_mask);
      if (version != m_version_of.end()) m_facts.wanted_by[m_facts.wanted_versions[version->second]].push_back(name);
      m_facts.undefined.push_back(std::move(name));
    }
  }

  const ElfFile& m_file;
  bool m_all_symbols;
  ElfFacts& m_facts;
  Problems& m_problems;
  std::map<std::uint64_t, std::uint64_t> m_values;
  std::map<std::uint16_t, std::size_t> m_version_of;  ///< version index of a symbol -> place in wanted_versions
  StringTable m_strings;
  bool m_reported = false;
  bool m_bind_now = false;
};

// Without a PT_GNU_STACK segment the x86_64 loader makes the stack executable, the aarch64 one does not (glibc).
bool executable_stack(const ElfFile& file) {
  for (const ElfSegment& segment : file.segments())
    if (segment.type == PT_GNU_STACK) return (segment.flags & PF_X) != 0;
  return file.type() != ET_REL && file.machine() == EM_X86_64;
}

void read_debug_sections(const ElfFile& file, ElfFacts& facts) {
  for (const ElfSection& section : file.sections()) {
    if (!section.name.starts_with(".debug_") && !section.name.starts_with(".zdebug_")) continue;
    facts.debug_info = true;
    if (const auto content = file.content(section)) facts.debug_bytes += content->size();
  }
  facts.debug_bytes = std::min(facts.debug_bytes, file.bytes().size());  // sections may share bytes
}

/// What the segments beside the dynamic one say.
void read_segments(const ElfFile& file, bool bind_now, ElfFacts& facts) {
  constexpr std::uint32_t k_write_execute = PF_W | PF_X;
  facts.relro = "none";
  int notes = 0;
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type == PT_GNU_RELRO) facts.relro = bind_now ? "full" : "partial";
    if (segment.type == PT_LOAD && (segment.flags & k_write_execute) == k_write_execute)
      facts.writable_code = true;
    const auto content = file.bytes().slice(segment.offset, segment.file_size).value_or(Bytes());
    if (segment.type == PT_INTERP && facts.interpreter.empty())
      facts.interpreter = content.c_string(0).value_or(std::string_view()).substr(0, k_max_path);
    if (segment.type == PT_NOTE && ++notes <= k_max_note_segments)
      read_elf_notes(content, file.machine(), facts);
  }
}

/// The C library's family, by the names of the libraries: musl's is libc.musl-x86_64.so.1 or plain libc.so.
std::string libc_of(const ElfFacts& facts) {
  for (const auto& library : facts.needed) {
    if (library == "libc.so.6" || library.starts_with("ld-linux-")) return "glibc";
    if (library.starts_with("libc.musl-") || library == "libc.so" || library.starts_with("ld-musl-")) return "musl";
  }
  if (facts.versions.contains("GLIBC")) return "glibc";
  if (facts.interpreter.find("/ld-musl-") != std::string::npos) return "musl";
  if (facts.interpreter.find("/ld-linux-") != std::string::npos) return "glibc";
  return {};
}

}  // namespace

std::string elf_machine_name(std::uint16_t machine) {
  if (machine == EM_X86_64) return "x86_64";
  if (machine == EM_AARCH64) return "aarch64";
  return fmt::format("em_{}", machine);
}

bool is_python_init(std::string_view symbol) {
  return symbol.starts_with("PyInit_") || symbol.starts_with("PyModExport_");
}

ElfFacts read_elf_facts(const ElfFile& file, bool all_symbols, Problems& problems) {
  ElfFacts facts;
  facts.machine = elf_machine_name(file.machine());
  facts.executable_stack = executable_stack(file);
  facts.position_independent = file.type() != ET_EXEC;
  read_debug_sections(file, facts);
  bool bind_now = false;
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type != PT_DYNAMIC) continue;
    DynamicReader dynamic(file, all_symbols, facts, problems);
    if (const auto content = file.bytes().slice(segment.offset, segment.file_size))
      dynamic.read(*content);
    else
      problems.error("INS024", "the ELF dynamic segment lies outside the file");
    bind_now = dynamic.bind_now();
    break;
  }
  read_segments(file, bind_now, facts);
  sort_once(facts.needed);
  sort_once(facts.wanted_versions);
  sort_once(facts.exports);
  sort_once(facts.undefined);
  for (auto& [version, names] : facts.wanted_by) sort_once(names);
  sort_once(facts.undefined_weak);
  facts.libc = libc_of(facts);
  return facts;
}

}  // namespace sagekit
