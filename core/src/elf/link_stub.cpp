#include "elf/exports.hpp"
#include "support/byte_writer.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace sagekit {

namespace {

constexpr std::uint64_t k_page = 0x10000;  // the largest page of the CPUs this is for (aarch64)
/// Every symbol has a place of its own: linkers take a weak and a strong object at one address for two names of one.
constexpr std::uint64_t k_spacing = 32;

/// A string table; every text once.
class Names {
 public:
  std::uint32_t add(const std::string& text) {
    if (text.empty()) return 0;
    const auto [place, added] = m_offsets.emplace(text, static_cast<std::uint32_t>(m_bytes.size()));
    if (added) m_bytes += text + '\0';
    return place->second;
  }
  const std::string& bytes() const { return m_bytes; }

 private:
  std::string m_bytes = std::string(1, '\0');
  std::map<std::string, std::uint32_t> m_offsets;
};

/// The hash of .hash and of version definitions (gABI, "Hash Table").
std::uint32_t sysv_hash(std::string_view name) {
  std::uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    const std::uint32_t high = hash & 0xf0000000;
    hash = (hash ^ high >> 24) & ~high;
  }
  return hash;
}

struct Section {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::string content;
  std::uint32_t link = 0, info = 0;
  std::uint64_t alignment = 8, entry_size = 0;
  std::uint64_t address = 0, size = 0;  // address = file offset, but for sections without content
};

// Their places in the section table; the dummies come first, for symbols name them.
enum : std::uint16_t { k_code = 1, k_data, k_thread, k_dynsym, k_dynstr };

class Stub {
 public:
  Stub(const ExportList& exports, std::string_view code) : m_exports(exports), m_code(code) {}

  std::string write() {
    for (const ExportedSymbol& symbol : m_exports.symbols)
      if (!symbol.version.empty()) m_versions.emplace(symbol.version, 0);
    std::uint16_t index = 2;  // 0 is local, 1 the library's own
    for (auto& [name, number] : m_versions) number = index++;
    m_sections = {{"", 0, 0, {}, 0, 0, 0, 0, 0, 0},
                  {".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, {}, 0, 0, k_spacing, 0, 0, 0},
                  {".data", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, {}, 0, 0, k_spacing, 0, 0, 0},
                  {".tbss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE | SHF_TLS, {}, 0, 0, k_spacing, 0, 0, 0}};
    const std::uint32_t soname = m_names.add(m_exports.soname);
    add({".dynsym", SHT_DYNSYM, SHF_ALLOC, {}, k_dynstr, 1, 8, 24, 0, 24 * (m_exports.symbols.size() + 1)});
    const std::string definitions = version_definitions();
    for (const ExportedSymbol& symbol : m_exports.symbols) m_names.add(symbol.name);
    add({".dynstr", SHT_STRTAB, SHF_ALLOC, m_names.bytes(), 0, 0, 1, 0, 0, 0});
    const std::uint64_t hash = add({".hash", SHT_HASH, SHF_ALLOC, hash_table(), k_dynsym, 0, 8, 4, 0, 0});
    std::uint64_t versions_at = 0;
    std::uint64_t definitions_at = 0;
    const std::uint32_t definition_count = static_cast<std::uint32_t>(m_versions.size() + 1);
    if (!m_versions.empty()) {
      versions_at = add({".gnu.version", SHT_GNU_versym, SHF_ALLOC, versions(), k_dynsym, 0, 2, 2, 0, 0});
      definitions_at = add({".gnu.version_d", SHT_GNU_verdef, SHF_ALLOC, definitions, k_dynstr, definition_count});
    }
    ByteWriter dynamic;
    if (!m_exports.soname.empty()) dynamic.u64(14).u64(soname);
    dynamic.u64(4).u64(hash).u64(5).u64(m_sections[k_dynstr].address).u64(10).u64(m_names.bytes().size());
    dynamic.u64(6).u64(m_sections[k_dynsym].address).u64(11).u64(24);
    if (!m_versions.empty())
      dynamic.u64(0x6ffffff0)
          .u64(versions_at)
          .u64(0x6ffffffc)
          .u64(definitions_at)
          .u64(0x6ffffffd)
          .u64(definition_count);
    dynamic.u64(0).u64(0);
    const std::uint64_t dynamic_at =
        add({".dynamic", SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, dynamic.bytes(), k_dynstr, 0, 8, 16, 0, 0});
    const std::uint64_t dynamic_size = dynamic.size();
    if (!m_code.empty()) {
      m_code_section = static_cast<std::uint16_t>(m_sections.size());
      m_code_at =
          add({".stand_in", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, std::string(m_code), 0, 0, k_spacing, 0, 0, 0});
    }
    place_dummies();
    m_sections[k_dynsym].content = symbols();
    const std::uint64_t loaded = m_end;
    return file(dynamic_at, dynamic_size, loaded);
  }

 private:
  static std::uint16_t section_of(const ExportedSymbol& symbol) {
    if (symbol.type == STT_TLS) return k_thread;
    return symbol.type == STT_OBJECT || symbol.type == STT_COMMON ? k_data : k_code;
  }

  /// Puts a section behind the others; its address.
  std::uint64_t add(Section section) {
    if (section.size == 0) section.size = section.content.size();
    m_end = (m_end + section.alignment - 1) / section.alignment * section.alignment;
    section.address = m_end;
    m_end += section.size;
    m_sections.push_back(std::move(section));
    return m_sections.back().address;
  }

  /// Memory for the symbols, behind what is in the file.
  void place_dummies() {
    for (const ExportedSymbol& symbol : m_exports.symbols) m_sections[section_of(symbol)].size += k_spacing;
    m_memory_end = (m_end / k_page + 1) * k_page;
    for (const std::uint16_t index : {k_code, k_data, k_thread}) {
      m_sections[index].address = m_memory_end;
      m_memory_end += m_sections[index].size;
    }
  }

  std::string symbols() {
    ByteWriter out;
    out.u64(0).u64(0).u64(0);
    std::array<std::uint64_t, 4> used{};
    for (const ExportedSymbol& symbol : m_exports.symbols) {
      const std::uint16_t section = section_of(symbol);
      const std::uint64_t start = section == k_thread ? 0 : m_sections[section].address;
      const bool coded = section == k_code && !m_code.empty();
      out.u32(m_names.add(symbol.name)).u8(symbol.binding * 16u + symbol.type).u8(symbol.visibility);
      out.u16(coded ? m_code_section : section).u64(coded ? m_code_at : start + used[section]).u64(symbol.size);
      used[section] += k_spacing;
    }
    return out.bytes();
  }

  std::string hash_table() const {
    const std::size_t count = m_exports.symbols.size() + 1;
    const std::size_t buckets = count / 4 + 1;
    std::vector<std::uint32_t> heads(buckets, 0);
    std::vector<std::uint32_t> next(count, 0);
    for (std::size_t i = count; i-- > 1;) {
      std::uint32_t& head = heads[sysv_hash(m_exports.symbols[i - 1].name) % buckets];
      next[i] = head;
      head = static_cast<std::uint32_t>(i);
    }
    ByteWriter out;
    out.u32(buckets).u32(count);
    for (const std::uint32_t head : heads) out.u32(head);
    for (const std::uint32_t one : next) out.u32(one);
    return out.bytes();
  }

  std::string versions() const {
    ByteWriter out;
    out.u16(0);
    for (const ExportedSymbol& symbol : m_exports.symbols)
      out.u16(symbol.version.empty() ? 1u : m_versions.at(symbol.version) | (symbol.hidden ? 0x8000u : 0u));
    return out.bytes();
  }

  /// The library's own version, named by its soname, then the others.
  std::string version_definitions() {
    ByteWriter out;
    const auto definition = [&](const std::string& name, std::uint16_t index, bool base, bool last) {
      out.u16(1).u16(base ? 1 : 0).u16(index).u16(1).u32(sysv_hash(name)).u32(20).u32(last ? 0 : 28);
      out.u32(m_names.add(name)).u32(0);
    };
    definition(m_exports.soname, 1, true, m_versions.empty());
    for (const auto& [name, index] : m_versions) definition(name, index, false, index == m_versions.size() + 1);
    return out.bytes();
  }

  std::string file(std::uint64_t dynamic_at, std::uint64_t dynamic_size, std::uint64_t loaded) {
    Names section_names;
    std::vector<std::uint32_t> name_offsets;
    for (const Section& section : m_sections) name_offsets.push_back(section_names.add(section.name));
    const std::uint32_t own_name = section_names.add(".shstrtab");
    const std::uint64_t names_at = loaded;
    const std::uint64_t table_at = (names_at + section_names.bytes().size() + 7) / 8 * 8;

    // Functions of the GNU/Linux ABI only: unique and indirect symbols are its extensions, and linkers mark them so.
    const bool gnu = std::ranges::any_of(m_exports.symbols, [](const ExportedSymbol& symbol) {
      return symbol.binding == STB_GNU_UNIQUE || symbol.type == STT_GNU_IFUNC;
    });
    ByteWriter out;
    out.text(
           "\x7f"
           "ELF")
        .u8(2)
        .u8(1)
        .u8(1)
        .u8(gnu ? 3 : 0)
        .u64(0);
    out.u16(3).u16(m_exports.machine).u32(1).u64(0).u64(64).u64(table_at).u32(0);
    out.u16(64).u16(56).u16(k_segments).u16(64).u16(m_sections.size() + 1).u16(m_sections.size());
    out.u32(1).u32(m_code.empty() ? 6 : 7).u64(0).u64(0).u64(0).u64(loaded).u64(m_memory_end).u64(k_page);
    out.u32(2).u32(6).u64(dynamic_at).u64(dynamic_at).u64(dynamic_at).u64(dynamic_size).u64(dynamic_size).u64(8);
    out.u32(0x6474e551).u32(6).u64(0).u64(0).u64(0).u64(0).u64(0).u64(16);
    for (const Section& section : m_sections) {
      if (section.content.empty()) continue;
      out.text(std::string(section.address - out.size(), '\0')).text(section.content);
    }
    out.text(std::string(names_at - out.size(), '\0')).text(section_names.bytes());
    out.text(std::string(table_at - out.size(), '\0'));
    for (std::size_t i = 0; i < m_sections.size(); ++i) {
      const Section& section = m_sections[i];
      const std::uint64_t offset = section.type == SHT_NOBITS ? loaded : section.address;
      out.u32(name_offsets[i]).u32(section.type).u64(section.flags).u64(section.address).u64(offset).u64(section.size);
      out.u32(section.link).u32(section.info).u64(section.alignment).u64(section.entry_size);
    }
    out.u32(own_name).u32(SHT_STRTAB).u64(0).u64(0).u64(names_at).u64(section_names.bytes().size());
    out.u32(0).u32(0).u64(1).u64(0);
    return out.bytes();
  }

  static constexpr std::uint64_t k_segments = 3;
  const ExportList& m_exports;
  std::string_view m_code;
  std::uint16_t m_code_section = 0;
  std::uint64_t m_code_at = 0;
  Names m_names;
  std::map<std::string, std::uint16_t> m_versions;
  std::vector<Section> m_sections;
  std::uint64_t m_end = 64 + 56 * k_segments, m_memory_end = 0;
};

}  // namespace

std::string link_stub(const ExportList& exports, std::string_view code) { return Stub(exports, code).write(); }

}  // namespace sagekit
