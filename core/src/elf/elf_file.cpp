#include "elf/elf_file.hpp"

#include "elf/string_table.hpp"
#include "support/format.hpp"

#include <algorithm>

namespace sagekit {

namespace {

constexpr std::uint64_t k_header_size = 64, k_section_size = 64, k_segment_size = 56;
constexpr std::uint16_t k_escape = 0xffff;  // "the real number is in section 0" (gABI, extended numbering)

}  // namespace

std::optional<ElfFile> ElfFile::read(Bytes bytes, Problems& problems) {
  if (!looks_like(bytes) || bytes.size() < k_header_size) {
    problems.error("INS020", "the ELF header is cut off");
    return std::nullopt;
  }
  if (bytes.u8(4) != 2 || bytes.u8(5) != 1) {
    problems.error("INS021", fmt::format("ELF class {} and byte order {} are not read; only 64-bit little-endian is",
                                         bytes.u8(4), bytes.u8(5)));
    return std::nullopt;
  }
  ElfFile file(bytes);
  file.read_sections(problems);
  file.read_segments(problems);
  return file;
}

void ElfFile::read_sections(Problems& problems) {
  const std::uint64_t table = m_bytes.u64(40);
  if (table == 0) return;
  std::uint64_t count = m_bytes.u16(60);
  std::uint64_t names_index = m_bytes.u16(62);
  if (m_bytes.u16(58) != k_section_size || !m_bytes.holds(table, k_section_size)) {
    problems.error("INS022", "the ELF section table lies outside the file");
    return;
  }
  if (count == 0) count = m_bytes.u64(table + 32);
  if (names_index == k_escape) names_index = m_bytes.u32(table + 40);
  if (count > m_bytes.size() / k_section_size || !m_bytes.holds(table, count * k_section_size)) {
    problems.error("INS022", fmt::format("the ELF section table ({} entries) lies outside the file", count));
    return;
  }
  m_section_count = count;

  std::vector<std::uint32_t> names;
  m_sections.reserve(static_cast<std::size_t>(count));
  names.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes entry = m_bytes.from(table + i * k_section_size);
    names.push_back(entry.u32(0));
    m_sections.push_back({{}, entry.u32(4), entry.u32(40), entry.u64(16), entry.u64(24), entry.u64(32), entry.u32(44)});
  }
  if (names_index >= count) {
    problems.error("INS022", "the ELF section names are in no section");
    return;
  }
  StringTable text(content(m_sections[static_cast<std::size_t>(names_index)]).value_or(Bytes()));
  for (std::size_t i = 0; i < m_sections.size(); ++i) {
    const auto name = text.at(names[i]);
    if (!name) return problems.error("INS022", "an ELF section name lies outside the name table");
    m_sections[i].name = *name;
  }
}

void ElfFile::read_segments(Problems& problems) {
  const std::uint64_t table = m_bytes.u64(32);
  const std::uint64_t count = m_bytes.u16(56);
  if (table == 0 || count == 0) return;
  if (count == k_escape || m_bytes.u16(54) != k_segment_size || !m_bytes.holds(table, count * k_segment_size)) {
    problems.error("INS023", "the ELF segment table lies outside the file");
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes entry = m_bytes.from(table + i * k_segment_size);
    m_segments.push_back({entry.u32(0), entry.u32(4), entry.u64(8), entry.u64(16), entry.u64(32)});
    const ElfSegment& segment = m_segments.back();
    if (segment.type == PT_LOAD && !m_bytes.holds(segment.offset, segment.file_size))
      problems.error("INS023", "an ELF segment lies outside the file");
  }
}

const ElfSection* ElfFile::section(std::string_view name) const {
  const auto found =
      std::find_if(m_sections.begin(), m_sections.end(), [&](const ElfSection& one) { return one.name == name; });
  return found == m_sections.end() ? nullptr : &*found;
}

std::optional<Bytes> ElfFile::content(const ElfSection& section) const {
  if (section.type == SHT_NOBITS) return Bytes();
  return m_bytes.slice(section.offset, section.size);
}

std::optional<Bytes> ElfFile::at_address(std::uint64_t address, std::uint64_t length) const {
  const auto rest = from_address(address);
  return rest ? rest->slice(0, length) : std::nullopt;
}

std::optional<Bytes> ElfFile::from_address(std::uint64_t address) const {
  for (const ElfSegment& segment : m_segments) {
    if (segment.type != PT_LOAD || address < segment.address) continue;
    const std::uint64_t inside = address - segment.address;
    if (inside >= segment.file_size) continue;
    const auto content = m_bytes.slice(segment.offset, segment.file_size);
    if (content) return content->from(inside);
  }
  return std::nullopt;
}

std::uint64_t ElfFile::extent() const {
  std::uint64_t end = k_header_size;
  const auto reach = [&](std::uint64_t offset, std::uint64_t size) {
    if (m_bytes.holds(offset, size)) end = std::max(end, offset + size);
  };
  reach(m_bytes.u64(40), m_section_count * k_section_size);
  reach(m_bytes.u64(32), m_segments.size() * k_segment_size);
  for (const ElfSection& section : m_sections)
    if (section.type != SHT_NOBITS) reach(section.offset, section.size);
  return end;
}

ElfSymbol ElfFile::symbol(Bytes table, std::uint64_t index) {
  const Bytes entry = table.from(index * k_elf_symbol_size);
  return {entry.u32(0), entry.u8(4), entry.u8(5), entry.u16(6)};
}

}  // namespace sagekit
