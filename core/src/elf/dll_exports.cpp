#include "elf/dll_exports.hpp"

#include "support/byte_writer.hpp"
#include "support/format.hpp"
#include "support/try.hpp"

#include <algorithm>

namespace sagekit {

namespace {

constexpr std::uint64_t k_coff_bytes = 24, k_section_bytes = 40, k_directory_bytes = 40, k_directories_at = 112;
constexpr std::uint16_t k_amd64 = 0x8664, k_pe32_plus_magic = 0x20b;
constexpr std::uint64_t k_most_names = 1 << 20, k_longest_name = 1 << 16;

std::unexpected<Error> no_exports(std::string why) {
  return fail(ErrorKind::failed, "IDX030", "the library's exports cannot be read: " + std::move(why));
}

std::uint32_t round_up(std::uint64_t value, std::uint64_t unit) {
  return static_cast<std::uint32_t>((value + unit - 1) / unit * unit);
}

}  // namespace

std::optional<DirectoryPlace> find_export_directory(Bytes beginning) {
  const std::uint64_t pe = beginning.u32(60);
  const auto coff = beginning.slice(pe, k_coff_bytes);
  if (!beginning.starts_with("MZ") || !coff || !coff->starts_with({"PE\0\0", 4}) || coff->u16(4) != k_amd64)
    return std::nullopt;
  const std::uint64_t optional_bytes = coff->u16(20);
  const auto optional = beginning.slice(pe + k_coff_bytes, optional_bytes);
  if (!optional || optional_bytes < k_directories_at + 8 || optional->u16(0) != k_pe32_plus_magic) return std::nullopt;
  DirectoryPlace place{0, optional->u32(k_directories_at + 4), optional->u32(k_directories_at)};
  for (std::uint64_t i = 0; i < coff->u16(6); ++i) {
    const auto section = beginning.slice(pe + k_coff_bytes + optional_bytes + i * k_section_bytes, k_section_bytes);
    if (!section) return std::nullopt;
    const std::uint64_t start = section->u32(12), in_file = section->u32(16);
    if (place.address < start || place.address - start >= in_file) continue;
    if (place.size < k_directory_bytes || place.size > in_file - (place.address - start)) return std::nullopt;
    place.offset = std::uint64_t{section->u32(20)} + (place.address - start);
    return place;
  }
  return std::nullopt;
}

Result<DllExports> read_export_directory(Bytes directory, std::uint32_t address) {
  const auto text_at = [&](std::uint32_t pointer) -> std::optional<std::string_view> {
    if (pointer < address) return std::nullopt;
    const auto text = directory.c_string(pointer - address);
    if (!text || text->empty() || text->size() > k_longest_name) return std::nullopt;
    return text;
  };
  if (!directory.holds(0, k_directory_bytes)) return no_exports("its directory is cut off");
  const auto name = text_at(directory.u32(12));
  const std::uint64_t count = directory.u32(24), pointers = directory.u32(32);
  if (!name || count > k_most_names || pointers < address || !directory.holds(pointers - address, count * 4))
    return no_exports("its directory is damaged");
  DllExports exports{std::string(*name), {}};
  // Names may share bytes; all of them together may not be much larger than the directory that holds them.
  std::uint64_t letters = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto one = text_at(directory.u32(pointers - address + i * 4));
    letters += one ? one->size() : 0;
    if (!one || letters > 2 * directory.size()) return no_exports("a name is damaged");
    if (!exports.names.empty() && exports.names.back() >= *one) return no_exports("its names are not sorted");
    exports.names.emplace_back(*one);
  }
  return exports;
}

Result<DllExports> read_dll_exports(std::string_view library) {
  const auto place = find_export_directory(
      Bytes(library).slice(0, std::min<std::uint64_t>(library.size(), 1 << 16)).value_or(Bytes()));
  if (!place) return no_exports("it is no 64-bit Windows library that exports anything");
  const auto directory = Bytes(library).slice(place->offset, place->size);
  if (!directory) return no_exports("its directory lies outside of the file");
  return read_export_directory(*directory, place->address);
}

std::string link_stub(const DllExports& exports) {
  constexpr std::uint32_t k_file_unit = 0x200, k_page_unit = 0x1000, k_code = 0x1000, k_edata = 0x2000;
  constexpr unsigned k_sections = 2, k_directory_count = 16;
  constexpr std::uint32_t k_optional = k_directories_at + 8 * k_directory_count;
  auto names = exports.names;
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  const auto count = static_cast<std::uint32_t>(names.size());
  const std::uint32_t functions = k_edata + k_directory_bytes, pointers = functions + 4 * count,
                      ordinals = pointers + 4 * count, texts = ordinals + 2 * count;
  ByteWriter table, strings;
  strings.text(exports.name, exports.name.size() + 1);
  ByteWriter pointer_list;
  for (const auto& name : names) {
    pointer_list.u32(texts + strings.bytes().size());
    strings.text(name, name.size() + 1);
  }
  table.u32(0).u32(0).u32(0).u32(texts).u32(1).u32(count).u32(count);
  table.u32(functions).u32(pointers).u32(ordinals);
  for (std::uint32_t i = 0; i < count; ++i) table.u32(k_code);
  table.text(pointer_list.bytes());
  for (std::uint32_t i = 0; i < count; ++i) table.u16(i);
  table.text(strings.bytes());
  const auto edata_bytes = static_cast<std::uint32_t>(table.bytes().size());

  ByteWriter file;
  file.text("MZ", 60).u32(64).text({"PE\0\0", 4}, 4);
  file.u16(k_amd64).u16(k_sections).u32(0).u32(0).u32(0).u16(k_optional).u16(0x2022);
  file.u16(k_pe32_plus_magic).u16(0).u32(k_file_unit).u32(0).u32(0).u32(0).u32(k_code);
  file.u64(0x180000000).u32(k_page_unit).u32(k_file_unit).u16(6).u16(0).u16(0).u16(0).u16(6);
  file.u16(0).u32(0).u32(k_edata + round_up(edata_bytes, k_page_unit)).u32(k_file_unit).u32(0);
  file.u16(2).u16(0x160).u64(1 << 20).u64(0x1000).u64(1 << 20).u64(0x1000).u32(0);
  file.u32(k_directory_count).u32(k_edata).u32(edata_bytes);
  file.zeros(64 + k_coff_bytes + k_optional - file.size());
  const auto section = [&](std::string_view name, std::uint32_t bytes, std::uint32_t address, std::uint32_t offset,
                           std::uint32_t flags) {
    file.text(name, 8).u32(bytes).u32(address).u32(round_up(bytes, k_file_unit)).u32(offset);
    file.u32(0).u32(0).u32(0).u32(flags);
  };
  section(".text", 1, k_code, k_file_unit, 0x60000020);
  section(".edata", edata_bytes, k_edata, 2 * k_file_unit, 0x40000040);
  file.align(k_file_unit).text("\xc3", k_file_unit);  // ret
  file.text(table.bytes(), round_up(edata_bytes, k_file_unit));
  return file.bytes();
}

std::string export_text(const DllExports& exports) {
  std::string text = fmt::format("dll {}\n", exports.name);
  for (const auto& name : exports.names) text += name + "\n";
  return text;
}

}  // namespace sagekit
