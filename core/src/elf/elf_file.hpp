#pragma once
// The skeleton of a little-endian ELF64 file: header, sections, segments. Shared by host modules and cubins.

#include "support/bytes.hpp"
#include "support/problems.hpp"

#include <elf.h>  // the gABI and GNU constants

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sagekit {

/// Bytes of an entry of .symtab and .dynsym (Elf64_Sym).
inline constexpr std::uint64_t k_elf_symbol_size = 24;

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0, link = 0;
  std::uint64_t address = 0, offset = 0, size = 0;
  std::uint32_t info = 0;
};

struct ElfSegment {
  std::uint32_t type = 0, flags = 0;
  std::uint64_t offset = 0, address = 0, file_size = 0;
};

struct ElfSymbol {
  std::uint32_t name = 0;
  std::uint8_t info = 0, other = 0;
  std::uint16_t section = 0;
  std::uint8_t type() const { return info & 15; }
  std::uint8_t binding() const { return info >> 4; }
};

/// Views into the bytes it was read from, which must outlive it.
class ElfFile {
 public:
  static bool looks_like(Bytes bytes) {
    return bytes.starts_with(
        "\x7f"
        "ELF");
  }

  /// Nothing (and a problem) when this is not ELF64 little-endian. A damaged section or segment table is a problem and
  /// leaves what could be read; a file without section headers is fine.
  static std::optional<ElfFile> read(Bytes bytes, Problems& problems);

  Bytes bytes() const { return m_bytes; }
  std::uint16_t type() const { return m_bytes.u16(16); }
  std::uint16_t machine() const { return m_bytes.u16(18); }
  std::uint32_t flags() const { return m_bytes.u32(48); }
  std::uint8_t os_abi() const { return m_bytes.u8(7); }
  std::uint8_t abi_version() const { return m_bytes.u8(8); }
  const std::vector<ElfSection>& sections() const { return m_sections; }
  const std::vector<ElfSegment>& segments() const { return m_segments; }

  /// The first section of that name; null when there is none.
  const ElfSection* section(std::string_view name) const;
  /// A section's bytes; nothing when they lie outside the file. Sections without bytes (NOBITS) are empty.
  std::optional<Bytes> content(const ElfSection& section) const;
  /// File bytes of `length` bytes at a virtual address, through the load segments.
  std::optional<Bytes> at_address(std::uint64_t address, std::uint64_t length) const;
  /// From a virtual address to the end of its segment's file bytes.
  std::optional<Bytes> from_address(std::uint64_t address) const;
  /// How many bytes the tables of this file reach: its true size when it lies inside something larger.
  std::uint64_t extent() const;

  static ElfSymbol symbol(Bytes table, std::uint64_t index);

 private:
  explicit ElfFile(Bytes bytes) : m_bytes(bytes) {}
  void read_sections(Problems& problems);
  void read_segments(Problems& problems);

  Bytes m_bytes;
  std::uint64_t m_section_count = 0;
  std::vector<ElfSection> m_sections;
  std::vector<ElfSegment> m_segments;
};

}  // namespace sagekit
