#include "elf/pe_reader.hpp"

#include "elf/string_table.hpp"
#include "support/format.hpp"
#include "support/sort_once.hpp"

#include <algorithm>

namespace sagekit {

namespace {

constexpr std::uint64_t k_coff_size = 24, k_section_header_size = 40, k_import_size = 20, k_export_size = 40;
constexpr std::uint16_t k_pe32 = 0x10b, k_pe32_plus = 0x20b;  // 32 and 64 bits
constexpr std::uint32_t k_max_imports = 4096;
constexpr std::uint64_t k_debug_size = 28;
constexpr std::uint32_t k_codeview = 2, k_max_debug = 64;
constexpr std::uint16_t k_high_entropy = 0x20, k_dynamic_base = 0x40, k_no_execute = 0x100;

std::uint64_t pe_offset(Bytes bytes) { return bytes.u32(60); }

/// Addresses are relative to where the module is loaded; sections say where those bytes are in the file.
class PeReader {
 public:
  PeReader(Bytes bytes, bool wide, PeFile& file, Problems& problems)
      : m_bytes(bytes), m_word(wide ? 8 : 4), m_file(file), m_problems(problems) {}

  void read_sections(Bytes table, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto entry = table.slice(i * k_section_header_size, k_section_header_size);
      if (!entry) return m_problems.error("INS031", "the PE section table lies outside the file");
      const std::string_view name = entry->view().substr(0, 8);
      const std::uint32_t virtual_size = entry->u32(8);
      const std::uint32_t raw_size = entry->u32(16);
      // Raw data is padded to the file alignment; what lies beyond the virtual size is padding.
      const std::uint64_t used = virtual_size == 0 ? raw_size : std::min(virtual_size, raw_size);
      const auto content = m_bytes.slice(entry->u32(20), used);
      if (!content) m_problems.error("INS031", fmt::format("PE section {} lies outside the file", i));
      // What is left of one that is cut off is still that section's.
      m_file.sections.push_back(
          {name.substr(0, name.find('\0')), entry->u32(12), content.value_or(m_bytes.from(entry->u32(20)))});
    }
  }

  /// The two kinds of import tables: loaded with the module, and when first called.
  struct ImportForm {
    std::uint64_t entry_size, name_field;
    std::uint64_t lookup_field, address_field;  ///< lists of the imports; the second serves where the first is 0
  };

  void read_imports(std::uint64_t address, const ImportForm& form) {
    if (address == 0) return;
    const auto table = at(address);
    for (std::uint32_t i = 0;; ++i) {
      const auto entry = table ? table->slice(i * form.entry_size, form.entry_size) : std::nullopt;
      if (!entry || i == k_max_imports) return m_problems.error("INS032", "the PE import table is damaged");
      const std::uint32_t name = entry->u32(form.name_field);
      if (name == 0) return;
      const auto rest = at(name);
      const auto text = rest ? rest->c_string(0) : std::nullopt;
      if (!text || text->size() > 1024) return m_problems.error("INS032", "a PE import name is damaged");
      m_file.facts.imports.emplace_back(*text);
      const std::uint32_t lookup = entry->u32(form.lookup_field);
      read_imported(lookup != 0 ? lookup : entry->u32(form.address_field), m_file.facts.imported[std::string(*text)]);
    }
  }

  void read_exports(std::uint64_t address) {
    if (address == 0) return;
    const auto rest = at(address);
    const auto directory = rest ? rest->slice(0, k_export_size) : std::nullopt;
    if (!directory) return m_problems.error("INS033", "the PE export table is damaged");
    const std::uint64_t count = directory->u32(24);
    if (count == 0) return;
    const auto names = at(directory->u32(32));
    if (!names || !names->holds(0, count * 4)) return m_problems.error("INS033", "the PE export table is damaged");
    StringTable text(m_bytes);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto where = at(names->u32(i * 4));
      const auto name = where ? text.at(static_cast<std::uint64_t>(where->data() - m_bytes.data())) : std::nullopt;
      if (!name) return m_problems.error("INS033", "a PE export name is damaged");
      m_file.facts.exports.emplace_back(*name);
    }
  }

  /// Only where it names a .pdb: the rest is for debuggers. What cannot be read names none.
  void read_debug(std::uint64_t address, std::uint64_t size) {
    const auto table = address == 0 ? std::nullopt : at(address);
    for (std::uint64_t i = 0; table && i < std::min<std::uint64_t>(size / k_debug_size, k_max_debug); ++i) {
      const auto entry = table->slice(i * k_debug_size, k_debug_size);
      if (!entry || entry->u32(12) != k_codeview) continue;
      const auto data = m_bytes.slice(entry->u32(24), entry->u32(16));
      if (!data || !data->starts_with("RSDS")) continue;
      if (const auto path = data->c_string(24)) m_file.facts.debug_path = std::string(*path);
    }
  }

 private:
  /// A list of words that ends with a 0; the highest bit of one says that it is a number and no name's place. Lists may
  /// share bytes: all of them together read no more entries than the file can hold.
  void read_imported(std::uint64_t address, std::vector<std::string>& imported) {
    if (address == 0) return;
    const auto list = at(address);
    for (std::uint64_t i = 0;; ++i) {
      const auto entry = list ? list->slice(i * m_word, m_word) : std::nullopt;
      if (!entry || m_imported++ > m_bytes.size() / m_word) return damaged_import();
      const std::uint64_t value = m_word == 8 ? entry->u64(0) : entry->u32(0);
      if (value == 0) return;
      if (value >> (8 * m_word - 1) != 0) {
        imported.push_back(fmt::format("#{}", value & 0xffff));
        continue;
      }
      const auto hint = at(value);  // 2 bytes before the name
      const auto name = hint ? m_names.at(static_cast<std::uint64_t>(hint->data() - m_bytes.data()) + 2) : std::nullopt;
      if (!name) return damaged_import();
      imported.emplace_back(*name);
    }
  }

  void damaged_import() {
    if (!m_reported) m_problems.error("INS034", "the list of what a PE module imports is damaged");
    m_reported = true;
  }

  std::optional<Bytes> at(std::uint64_t address) const {
    for (const PeSection& section : m_file.sections)
      if (address >= section.address && address - section.address < section.content.size())
        return section.content.from(address - section.address);
    return std::nullopt;
  }

  Bytes m_bytes;
  std::uint64_t m_word;  ///< bytes of an address
  PeFile& m_file;
  Problems& m_problems;
  StringTable m_names{m_bytes};
  std::uint64_t m_imported = 0;
  bool m_reported = false;
};

}  // namespace

bool looks_like_pe(Bytes bytes) {
  return bytes.starts_with("MZ") && bytes.from(pe_offset(bytes)).starts_with(std::string_view("PE\0\0", 4));
}

std::optional<PeFile> read_pe(Bytes bytes, Problems& problems) {
  const auto coff = bytes.slice(pe_offset(bytes), k_coff_size);
  if (!looks_like_pe(bytes) || !coff) {
    problems.error("INS030", "the PE header is cut off");
    return std::nullopt;
  }
  const std::uint64_t optional_size = coff->u16(20);
  const std::uint64_t optional_offset = pe_offset(bytes) + k_coff_size;
  const auto optional = bytes.slice(optional_offset, optional_size);
  const std::uint16_t form = optional ? optional->u16(0) : std::uint16_t{0};
  const bool wide = form == k_pe32_plus;
  const std::uint64_t directories = wide ? 112 : 96;
  if ((!wide && form != k_pe32) || optional_size < directories) {
    problems.error("INS030", "its optional header is cut off, or neither that of a 32-bit nor of a 64-bit module");
    return std::nullopt;
  }
  PeFile file;
  const std::uint16_t machine = coff->u16(4);
  file.facts.machine = machine == 0x8664   ? "x86_64"
                       : machine == 0xaa64 ? "aarch64"
                       : machine == 0x14c  ? "x86"
                                           : fmt::format("pe_{:x}", machine);
  const std::uint16_t characteristics = optional->u16(70);
  file.facts.high_entropy = (characteristics & k_high_entropy) != 0;
  file.facts.dynamic_base = (characteristics & k_dynamic_base) != 0;
  file.facts.no_execute = (characteristics & k_no_execute) != 0;
  PeReader reader(bytes, wide, file, problems);
  reader.read_sections(bytes.from(optional_offset + optional_size), coff->u16(6));
  const std::uint32_t count = optional->u32(directories - 4);
  const auto directory = [&](std::uint64_t index) {
    return index < count ? optional->u32(directories + index * 8) : 0u;
  };
  reader.read_exports(directory(0));
  reader.read_imports(directory(1), {k_import_size, 12, 0, 16});
  reader.read_imports(directory(13), {32, 4, 16, 12});  // delay-loaded
  reader.read_debug(directory(6), 6 < count ? optional->u32(directories + 6 * 8 + 4) : 0u);
  sort_once(file.facts.imports);
  sort_once(file.facts.exports);
  for (auto& [library, names] : file.facts.imported) sort_once(names);
  return file;
}

}  // namespace sagekit
