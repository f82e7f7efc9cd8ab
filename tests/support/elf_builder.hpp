#pragma once
// Makes little-endian ELF64 files: host modules with a dynamic segment, and cubins.

#include "support/byte_writer.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sagekit::test {

/// A string table that hands out offsets.
class NameTable {
 public:
  std::uint32_t add(const std::string& name) {
    const auto offset = static_cast<std::uint32_t>(m_text.size());
    m_text += name + '\0';
    return offset;
  }
  const std::string& text() const { return m_text; }

 private:
  std::string m_text = std::string(1, '\0');
};

/// Sections at file offset = virtual address, one load segment over the whole file.
struct ElfBuilder {
  struct Section {
    std::string name, content;
    std::uint32_t type = 1, link = 0, info = 0;
  };
  std::uint16_t type = 3, machine = 62;
  std::uint32_t flags = 0;
  std::uint8_t os_abi = 0, abi_version = 0;
  std::vector<Section> sections;
  std::vector<std::uint32_t> stack_flags = {6};                 ///< PT_GNU_STACK, one each
  std::string dynamic_section;                                  ///< its name; "" = no dynamic segment
  std::uint32_t load_flags = 5;                                 ///< of the one load segment: read 4, write 2, execute 1
  std::vector<std::pair<std::uint32_t, std::string>> segments;  ///< more of them: type, section that it covers
  bool section_table = true;

  static constexpr std::size_t k_header = 64, k_segment = 56;

  std::size_t segment_count() const {
    return 1 + stack_flags.size() + (dynamic_section.empty() ? 0 : 1) + segments.size();
  }
  /// Where the section of that index will lie: all content is 8-aligned, in order.
  std::uint64_t offset_of(std::size_t index) const {
    std::uint64_t at = k_header + k_segment * segment_count();
    for (std::size_t i = 0; i <= index; ++i) {
      at = (at + 7) & ~std::uint64_t{7};
      if (i < index) at += sections[i].content.size();
    }
    return at;
  }

  std::string build() const {
    NameTable names;
    std::vector<std::uint32_t> name_offsets;
    for (const Section& section : sections) name_offsets.push_back(names.add(section.name));
    const std::uint32_t own_name = names.add(".shstrtab");

    ByteWriter body;
    body.zeros(k_header + k_segment * segment_count());
    for (const Section& section : sections) body.align(8).text(section.content);
    const std::size_t names_at = body.align(8).size();
    body.text(names.text());
    const std::size_t table_at = body.align(8).size();
    const std::size_t end = table_at + (section_table ? 64 * (sections.size() + 2) : 0);

    ByteWriter out;
    out.text(
           "\x7f"
           "ELF")
        .u8(2)
        .u8(1)
        .u8(1)
        .u8(os_abi)
        .u8(abi_version)
        .zeros(7);
    out.u16(type).u16(machine).u32(1).u64(0).u64(k_header).u64(section_table ? table_at : 0).u32(flags);
    out.u16(64).u16(56).u16(segment_count()).u16(64).u16(section_table ? sections.size() + 2 : 0);
    out.u16(section_table ? sections.size() + 1 : 0);
    segment(out, 1, load_flags, 0, end);
    for (const std::uint32_t stack : stack_flags) segment(out, 0x6474e551, stack, 0, 0);
    for (std::size_t i = 0; i < sections.size(); ++i)
      if (!dynamic_section.empty() && sections[i].name == dynamic_section)
        segment(out, 2, 6, offset_of(i), sections[i].content.size());
    for (const auto& [kind, name] : segments)
      for (std::size_t i = 0; i < sections.size(); ++i)
        if (sections[i].name == name) segment(out, kind, 4, offset_of(i), sections[i].content.size());
    out.text(body.bytes().substr(out.size()));
    if (!section_table) return out.bytes();
    out.zeros(64);
    for (std::size_t i = 0; i < sections.size(); ++i)
      header(out, name_offsets[i], sections[i].type, offset_of(i), sections[i].content.size(), sections[i].link,
             sections[i].info);
    header(out, own_name, 3, names_at, names.text().size(), 0, 0);
    return out.bytes();
  }

 private:
  static void segment(ByteWriter& out, std::uint32_t type, std::uint32_t flags, std::uint64_t at, std::uint64_t size) {
    out.u32(type).u32(flags).u64(at).u64(at).u64(at).u64(size).u64(size).u64(8);
  }
  static void header(ByteWriter& out, std::uint32_t name, std::uint32_t type, std::uint64_t at, std::uint64_t size,
                     std::uint32_t link, std::uint32_t info) {
    out.u32(name).u32(type).u64(2).u64(at).u64(at).u64(size).u32(link).u32(info).u64(8).u64(0);
  }
};

/// What a host module needs, wants and exports.
struct ModuleBuilder {
  std::string soname = "libtiny.so.1", runpath = "$ORIGIN:/opt/lib";
  std::vector<std::string> needed = {"libc.so.6"};
  std::vector<std::pair<std::string, std::vector<std::string>>> versions = {
      {"libc.so.6", {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.4", "GLIBC_PRIVATE"}}};
  std::vector<std::string> exports = {"PyInit__tiny", "answer"}, undefined = {"malloc"},
                           undefined_weak = {"__gmon_start__"};
  std::map<std::string, std::string> symbol_versions = {};  ///< undefined symbol -> one of `versions`
  std::vector<ElfBuilder::Section> more;                    ///< such as .nv_fatbin
  std::uint16_t machine = 62;
  std::vector<std::uint32_t> stack_flags = {6};
  bool section_table = true;
  bool gnu_hash = false;
  std::uint16_t type = 3;
  std::uint32_t load_flags = 5;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> tags = {};    ///< more dynamic tags
  std::vector<std::pair<std::uint32_t, std::string>> segments = {};  ///< more segments, as ElfBuilder's

  std::string build() const {
    NameTable names;
    ByteWriter symbols;
    symbols.zeros(24);
    const auto symbol = [&](const std::string& name, std::uint8_t binding, std::uint16_t section) {
      symbols.u32(names.add(name)).u8(std::uint64_t{binding} << 4 | 2).u8(0).u16(section).u64(0).u64(0);
    };
    for (const auto& name : undefined) symbol(name, 1, 0);
    for (const auto& name : undefined_weak) symbol(name, 2, 0);
    for (const auto& name : exports) symbol(name, 1, 7);
    ByteWriter needs;
    std::map<std::string, std::uint16_t> version_numbers;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const auto& [library, wanted] = versions[i];
      const bool last = i + 1 == versions.size();
      needs.u16(1).u16(wanted.size()).u32(names.add(library)).u32(16).u32(last ? 0 : 16 + 16 * wanted.size());
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        const auto number = static_cast<std::uint16_t>(version_numbers.size() + 2);
        version_numbers.emplace(wanted[k], number);
        needs.u32(0).u16(0).u16(number).u32(names.add(wanted[k])).u32(k + 1 == wanted.size() ? 0 : 16);
      }
    }
    ByteWriter version_of;  // 0 local, 1 global without a version
    version_of.u16(0);
    for (const auto* list : {&undefined, &undefined_weak, &exports})
      for (const auto& name : *list) {
        const auto wanted = symbol_versions.find(name);
        const auto number = list == &exports || wanted == symbol_versions.end() ? version_numbers.end()
                                                                                : version_numbers.find(wanted->second);
        version_of.u16(number == version_numbers.end() ? 1 : number->second);
      }
    auto entries = tags;
    for (const auto& library : needed) entries.emplace_back(1, names.add(library));
    if (!soname.empty()) entries.emplace_back(14, names.add(soname));
    if (!runpath.empty()) entries.emplace_back(29, names.add(runpath));
    const std::size_t count = symbols.size() / 24;
    ByteWriter hash;  // one bucket; only the number of symbols it tells matters here
    if (gnu_hash) {
      hash.u32(1).u32(count - exports.size()).u32(1).u32(0).u64(0).u32(exports.empty() ? 0 : count - exports.size());
      for (std::size_t i = 1; i <= exports.size(); ++i) hash.u32(i == exports.size() ? 1 : 2);
    } else {
      hash.u32(1).u32(count).u32(0).zeros(4 * count);
    }

    ElfBuilder elf;
    elf.machine = machine;
    elf.stack_flags = stack_flags;
    elf.section_table = section_table;
    elf.type = type;
    elf.load_flags = load_flags;
    elf.segments = segments;
    elf.dynamic_section = ".dynamic";
    elf.sections = {{".dynstr", names.text(), 3, 0},
                    {".dynsym", symbols.bytes(), 11, 1},
                    {".gnu.version_r", needs.bytes(), 0x6ffffffe, 1},
                    {".hash", hash.bytes(), 5, 2},
                    {".gnu.version", version_of.bytes(), 0x6fffffff, 1}};
    entries.insert(entries.end(), {{5, elf.offset_of(0)},
                                   {10, names.text().size()},
                                   {6, elf.offset_of(1)},
                                   {0x6ffffffe, elf.offset_of(2)},
                                   {0x6fffffff, versions.size()},
                                   {gnu_hash ? 0x6ffffef5 : 4, elf.offset_of(3)},
                                   {0x6ffffff0, elf.offset_of(4)},
                                   {0, 0}});
    ByteWriter dynamic;
    for (const auto& [tag, value] : entries) dynamic.u64(tag).u64(value);
    elf.sections.push_back({".dynamic", dynamic.bytes(), 6, 1});
    elf.sections.insert(elf.sections.end(), more.begin(), more.end());
    return elf.build();
  }
};

}  // namespace sagekit::test
