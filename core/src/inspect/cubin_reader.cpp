#include "inspect/cubin_reader.hpp"

#include "inspect/elf_file.hpp"
#include "inspect/string_table.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace {

constexpr std::uint8_t k_symbol_function = 2, k_symbol_is_kernel = 0x10;
constexpr std::uint8_t k_attribute_toolkit = 0x37, k_format_sized = 4;
constexpr std::uint8_t k_compat_accelerated = 9;

/// The description of a section that holds one note: 12 bytes, name and description each padded to 4.
std::optional<Bytes> note_description(const ElfFile& file, std::string_view section_name) {
  const ElfSection* const section = file.section(section_name);
  const auto note = section == nullptr ? std::nullopt : file.content(*section);
  if (!note || !note->holds(0, 12)) return std::nullopt;
  const auto name_size = aligned(note->u32(0), 4);
  return name_size ? note->slice(12 + *name_size, note->u32(4)) : std::nullopt;
}

std::string toolkit_name(std::uint64_t number) {
  return number == 0 ? std::string{} : fmt::format("{}.{}", number / 10, number % 10);
}

/// Value of a sized attribute in .nv.info records: {u8 format, u8 attribute, u16 value or size} [bytes].
std::optional<std::uint32_t> info_attribute(Bytes records, std::uint8_t attribute) {
  for (std::uint64_t at = 0; records.holds(at, 4);) {
    const bool sized = records.u8(at) == k_format_sized;
    const std::uint64_t size = sized ? records.u16(at + 2) : 0;
    if (sized && records.u8(at + 1) == attribute && size >= 4 && records.holds(at + 4, size))
      return records.u32(at + 4);
    at += 4 + aligned(size, 4).value_or(size);
  }
  return std::nullopt;
}

std::string recorded_toolkit(const ElfFile& file) {
  if (const auto info = note_description(file, ".note.nv.cuinfo"); info && info->holds(0, 6))
    return toolkit_name(info->u16(4));
  for (const ElfSection& section : file.sections()) {
    if (!section.name.starts_with(".nv.info.")) continue;
    const auto records = file.content(section);
    if (const auto number = records ? info_attribute(*records, k_attribute_toolkit) : std::nullopt)
      return toolkit_name(*number);
  }
  return {};
}

/// The arch in the ptxas options that .note.nv.tkinfo records: {u32 version 2, 0, tool, tool version, build, options}
/// are offsets into the text from byte 24 on.
std::optional<Arch> recorded_arch(const ElfFile& file) {
  const auto info = note_description(file, ".note.nv.tkinfo");
  if (!info || !info->holds(0, 24) || info->u32(0) != 2) return std::nullopt;
  const auto options = info->from(24).c_string(info->u32(20));
  if (!options) return std::nullopt;
  const auto words = split_words(*options, " =\t");
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if ((words[i] != "-arch" && words[i] != "--gpu-name") || !words[i + 1].starts_with("sm_")) continue;
    std::string number = words[i + 1].substr(3);
    const std::size_t digits = std::min(number.find_first_not_of("0123456789"), number.size());
    if (digits < 2) return std::nullopt;
    number.insert(digits - 1, ".");
    if (const auto arch = parse_arch(number)) return *arch;
    return std::nullopt;
  }
  return std::nullopt;
}

bool compat_says_accelerated(const ElfFile& file) {
  const ElfSection* const section = file.section(".nv.compat");
  const auto records = section == nullptr ? std::nullopt : file.content(*section);
  if (!records) return false;
  for (std::uint64_t at = 0; records->holds(at, 4);) {
    if (records->u8(at) == 2 && records->u8(at + 1) == k_compat_accelerated) return records->u8(at + 2) == 1;
    at += 4 + (records->u8(at) == k_format_sized ? aligned(records->u16(at + 2), 4).value_or(0) : 0);
  }
  return false;
}

/// SM number and `a` out of the ELF header; both moved when the cubin ABI went from 7 to 8 (CUDA 13).
std::optional<Arch> arch_of_header(const ElfFile& file) {
  const bool new_abi = file.os_abi() == 0x41 && file.abi_version() == 8;
  if (!new_abi && (file.os_abi() != 0x33 || file.abi_version() > 7)) return std::nullopt;
  const std::uint32_t sm = new_abi ? (file.flags() >> 8) & 0xff : file.flags() & 0xff;
  if (sm < 10) return std::nullopt;
  Arch arch{{static_cast<int>(sm / 10), static_cast<int>(sm % 10)}, ArchSuffix::none};
  // Bit 0x800 had another meaning before compute capability 9.0, where `a` begins.
  const bool accelerated =
      new_abi ? compat_says_accelerated(file) : (file.flags() & 0x800) != 0 && arch.capability >= Capability{9, 0};
  if (accelerated) arch.suffix = ArchSuffix::a;
  return arch;
}

bool read_kernels(const ElfFile& file, std::vector<std::string>& kernels) {
  for (const ElfSection& section : file.sections()) {
    if (section.type != elf::section_symbols) continue;
    const auto table = file.content(section);
    if (!table || section.link >= file.sections().size() || section.size % elf::symbol_size != 0) return false;
    StringTable names(file.content(file.sections()[section.link]).value_or(Bytes()));
    for (std::uint64_t i = 0; i < section.size / elf::symbol_size; ++i) {
      const ElfSymbol symbol = ElfFile::symbol(*table, i);
      if (symbol.type() != k_symbol_function || (symbol.other & k_symbol_is_kernel) == 0 || symbol.section == 0)
        continue;
      const auto name = names.at(symbol.name);
      if (!name) return false;
      kernels.emplace_back(*name);
    }
  }
  return true;
}

}  // namespace

bool looks_like_cubin(Bytes bytes) {
  return bytes.holds(0, 64) &&
         bytes.starts_with(
             "\x7f"
             "ELF\x02\x01\x01") &&
         bytes.u16(18) == elf::machine_cuda;
}

std::optional<CubinFacts> read_cubin(Bytes bytes, bool kernels, Problems& problems) {
  if (!looks_like_cubin(bytes)) {
    problems.error("FAT007", "an image that should be machine code is no cubin");
    return std::nullopt;
  }
  Problems inside(problems.where());
  const auto file = ElfFile::read(bytes, inside);
  if (!file || inside.has_errors()) {
    problems.error("FAT007", "a cubin is damaged" +
                                 (inside.list().empty() ? std::string{} : ": " + inside.list().front().message));
    return std::nullopt;
  }
  const auto header = arch_of_header(*file);
  if (!header) {
    problems.error("FAT007", fmt::format("a cubin has the unknown ABI {:#x}/{} (flags {:#x})", file->os_abi(),
                                         file->abi_version(), file->flags()));
    return std::nullopt;
  }
  CubinFacts facts;
  facts.arch = *header;
  if (const auto recorded = recorded_arch(*file); recorded && recorded->capability == header->capability) {
    facts.arch = *recorded;
    facts.suffix_known = true;
  }
  facts.toolkit = recorded_toolkit(*file);
  if (kernels && !read_kernels(*file, facts.kernels)) {
    problems.error("FAT007", "the symbol table of a cubin is damaged");
    return std::nullopt;
  }
  return facts;
}

}  // namespace sagekit
