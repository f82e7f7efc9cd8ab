#include "gpu/cubin_reader.hpp"

#include "gpu/cubin_kernels.hpp"
#include "elf/elf_file.hpp"
#include "gpu/nv_info.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace {

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

std::string recorded_toolkit(const ElfFile& file) {
  if (const auto info = note_description(file, ".note.nv.cuinfo"); info && info->holds(0, 6))
    return toolkit_name(info->u16(4));
  for (const ElfSection& section : file.sections()) {
    if (!section.name.starts_with(".nv.info.")) continue;
    const auto records = file.content(section);
    std::uint32_t number = 0;
    if (records)
      for_each_info(*records, [&](std::uint8_t attribute, Bytes value) {
        if (attribute == k_attribute_toolkit && number == 0) number = value.u32(0);
      });
    if (number != 0) return toolkit_name(number);
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

/// The cubin ABI moved its fields when it went from 7 to 8 (CUDA 13).
enum class Abi { unknown, old, current };

Abi abi_of(Bytes header) {
  const std::uint8_t os = header.u8(7), version = header.u8(8);
  if (os == 0x41 && version == 8) return Abi::current;
  return os == 0x33 && version <= 7 ? Abi::old : Abi::unknown;
}

std::optional<Capability> capability_of(std::uint32_t sm) {
  if (sm < 10) return std::nullopt;
  return Capability{static_cast<int>(sm / 10), static_cast<int>(sm % 10)};
}

bool is_accelerated(const ElfFile& file, Capability capability) {
  if (abi_of(file.bytes()) == Abi::current) return compat_says_accelerated(file);
  // Bit 0x800 had another meaning before compute capability 9.0, where `a` begins.
  return (file.flags() & 0x800) != 0 && capability >= Capability{9, 0};
}

std::optional<Capability> virtual_arch(const ElfFile& file) {
  if (abi_of(file.bytes()) == Abi::old) return capability_of(file.flags() >> 16 & 0xff);
  const auto info = note_description(file, ".note.nv.cuinfo");
  return info && info->holds(0, 4) ? capability_of(info->u16(2)) : std::nullopt;
}

}  // namespace

bool looks_like_cubin(Bytes bytes) {
  return bytes.holds(0, 64) &&
         bytes.starts_with(
             "\x7f"
             "ELF\x02\x01\x01") &&
         bytes.u16(18) == EM_CUDA;
}

std::optional<Capability> cubin_capability(Bytes beginning) {
  const Abi abi = abi_of(beginning);
  if (!looks_like_cubin(beginning) || abi == Abi::unknown) return std::nullopt;
  const std::uint32_t flags = beginning.u32(48);
  return capability_of((abi == Abi::current ? flags >> 8 : flags) & 0xff);
}

std::optional<CubinFacts> read_cubin(Bytes bytes, CubinDetail detail, Problems& problems) {
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
  const auto capability = cubin_capability(bytes);
  if (!capability) {
    problems.error("FAT007", fmt::format("a cubin has the unknown ABI {:#x}/{} (flags {:#x})", file->os_abi(),
                                         file->abi_version(), file->flags()));
    return std::nullopt;
  }
  CubinFacts facts;
  facts.arch = {*capability, is_accelerated(*file, *capability) ? ArchSuffix::a : ArchSuffix::none};
  if (const auto recorded = recorded_arch(*file); recorded && recorded->capability == *capability) {
    facts.arch = *recorded;
    facts.suffix_known = true;
  }
  facts.compiled_from = virtual_arch(*file);
  facts.toolkit = recorded_toolkit(*file);
  if (detail != CubinDetail::header && !read_cubin_kernels(*file, detail == CubinDetail::resources, facts)) {
    problems.error("FAT007", "the symbol table of a cubin, or code that it names, is damaged");
    return std::nullopt;
  }
  return facts;
}

}  // namespace sagekit
