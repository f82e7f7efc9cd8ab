#include "gpu/cubin_kernels.hpp"

#include "gpu/nv_info.hpp"
#include "gpu/sass.hpp"
#include "elf/string_table.hpp"

#include <algorithm>
#include <functional>

namespace sagekit {

namespace {

constexpr std::uint8_t k_binding_global = 1, k_symbol_function = 2, k_symbol_is_kernel = 0x10;
constexpr std::uint32_t k_section_symbol_sections = 18;  // gABI: section indexes of symbols that do not fit in 16 bits
constexpr std::uint16_t k_section_escape = 0xffff;
constexpr std::uint8_t k_attribute_registers = 0x2f, k_attribute_min_stack = 0x12;
// From this capability on the driver keeps 1 KiB of each block's shared memory, and the section counts it in.
constexpr Capability k_first_with_reserved_shared{9, 0};
constexpr std::uint64_t k_reserved_shared = 1024;
constexpr std::string_view k_text = ".text.", k_shared = ".nv.shared.", k_constants = ".nv.constant0.";

/// Is this mangled name (Itanium C++ ABI, 5.1) that of a template's instance or of something in an unnamed namespace?
/// Any number of files may bring those; the symbols' binding does not tell, ptxas makes them global.
bool may_be_in_many_files(std::string_view name) {
  if (!name.starts_with("_Z")) return false;
  if (name.find("_GLOBAL__N_") != std::string_view::npos || name.find("_INTERNAL_") != std::string_view::npos)
    return true;
  for (std::size_t at = 2; at < name.size();) {
    const char c = name[at];
    if (c == 'I') return true;
    std::size_t length = 0, digits = 0;
    while (digits < 6 && at + digits < name.size() && name[at + digits] >= '0' && name[at + digits] <= '9')
      length = length * 10 + static_cast<std::size_t>(name[at + digits++] - '0');
    if (digits > 0)
      at += digits + length;
    else if (std::string_view("NKVrRLS").find(c) != std::string_view::npos)
      at += c == 'S' ? 2 : 1;
    else
      return false;
  }
  return false;
}

/// Values that .nv.info records hold for symbols, by symbol number; 0 where there is none.
struct SymbolValues {
  std::vector<std::uint32_t> registers, stack;
};

SymbolValues read_symbol_values(const ElfFile& file, std::uint64_t symbols) {
  SymbolValues values;
  values.registers.resize(static_cast<std::size_t>(symbols));
  values.stack.resize(static_cast<std::size_t>(symbols));
  const ElfSection* const section = file.section(".nv.info");
  const auto records = section == nullptr ? std::nullopt : file.content(*section);
  if (!records) return values;
  for_each_info(*records, [&](std::uint8_t attribute, Bytes value) {
    if ((attribute != k_attribute_registers && attribute != k_attribute_min_stack) || value.size() < 8) return;
    const std::uint32_t symbol = value.u32(0);
    if (symbol >= symbols) return;
    (attribute == k_attribute_registers ? values.registers : values.stack)[symbol] = value.u32(4);
  });
  return values;
}

/// Sizes of the sections that belong to each code section, by its number.
struct Companions {
  std::uint64_t shared = 0, constants = 0;
};

std::vector<Companions> read_companions(const ElfFile& file) {
  const auto& sections = file.sections();
  std::vector<Companions> companions(sections.size());
  for (const ElfSection& section : sections) {
    const bool shared = section.name.starts_with(k_shared);
    if (!shared && !section.name.starts_with(k_constants)) continue;
    // sh_info names the code section; a section of that name for another kernel is somebody's damage.
    if (section.info >= sections.size()) continue;
    const std::string_view kernel = section.name.substr((shared ? k_shared : k_constants).size());
    const std::string_view code = sections[section.info].name;
    if (!code.starts_with(k_text) || code.substr(k_text.size()) != kernel) continue;
    (shared ? companions[section.info].shared : companions[section.info].constants) = section.size;
  }
  return companions;
}

/// One symbol table and what its kernels need.
class KernelReader {
 public:
  KernelReader(const ElfFile& file, bool resources, CubinFacts& facts)
      : m_file(file), m_resources(resources), m_facts(facts), m_code_left(2 * file.bytes().size()) {}

  bool read(const ElfSection& section) {
    const auto& sections = m_file.sections();
    const auto table = m_file.content(section);
    if (!table || section.link >= sections.size() || section.size % k_elf_symbol_size != 0) return false;
    const std::uint64_t count = section.size / k_elf_symbol_size;
    StringTable names(m_file.content(sections[section.link]).value_or(Bytes()));
    if (m_resources) {
      m_values = read_symbol_values(m_file, count);
      m_companions = read_companions(m_file);
      m_section_numbers = symbol_sections(section);
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      const ElfSymbol symbol = ElfFile::symbol(*table, i);
      if (symbol.type() != k_symbol_function || (symbol.other & k_symbol_is_kernel) == 0 || symbol.section == 0)
        continue;
      const auto name = names.at(symbol.name);
      if (!name) return false;
      if (symbol.binding() == k_binding_global && !may_be_in_many_files(*name))
        m_facts.global_names.push_back(std::hash<std::string_view>{}(*name));
      if (!m_resources)
        m_facts.kernels.emplace_back(*name);
      else if (!add_resources(i, symbol, *name))
        return false;
    }
    return true;
  }

 private:
  Bytes symbol_sections(const ElfSection& symbols) const {
    for (const ElfSection& section : m_file.sections())
      if (section.type == k_section_symbol_sections && section.link < m_file.sections().size() &&
          &m_file.sections()[section.link] == &symbols)
        return m_file.content(section).value_or(Bytes());
    return {};
  }

  bool add_resources(std::uint64_t index, const ElfSymbol& symbol, std::string_view name) {
    const std::uint64_t number = symbol.section == k_section_escape ? m_section_numbers.u32(4 * index) : symbol.section;
    if (number >= m_file.sections().size()) return false;
    const auto at = static_cast<std::size_t>(number);
    const auto code = m_file.content(m_file.sections()[at]);
    // A million kernels may all claim the same code: what is read of it is bounded by what is there.
    if (!code || code->size() > m_code_left) return false;
    m_code_left -= code->size();
    KernelResources kernel;
    kernel.name = name;
    kernel.registers = m_values.registers[static_cast<std::size_t>(index)];
    // CUDA 9 and before wrote no record of it, but into the code section's info (seen: 9.2, against cuobjdump).
    if (kernel.registers == 0) kernel.registers = m_file.sections()[at].info >> 24;
    kernel.stack_bytes = m_values.stack[static_cast<std::size_t>(index)];
    kernel.constant_bytes = m_companions[at].constants;
    kernel.shared_bytes = m_companions[at].shared;
    if (m_facts.arch.capability >= k_first_with_reserved_shared)
      kernel.shared_bytes -= std::min(kernel.shared_bytes, k_reserved_shared);
    kernel.code_bytes = code->size();
    if (sass_is_known(m_facts.arch.capability)) {
      const SassFacts sass = read_sass(*code, m_facts.arch.capability);
      kernel.instructions = sass.instructions;
      kernel.local_load_bytes = sass.local_load_bytes;
      kernel.local_store_bytes = sass.local_store_bytes;
      kernel.local_counted = true;
      kernel.body = sass.body;
      kernel.traps = sass.traps;
      kernel.mma_instructions = sass.mma_instructions;
    }
    m_facts.resources.push_back(std::move(kernel));
    return true;
  }

  const ElfFile& m_file;
  bool m_resources;
  CubinFacts& m_facts;
  std::uint64_t m_code_left;
  SymbolValues m_values;
  std::vector<Companions> m_companions;
  Bytes m_section_numbers;
};

}  // namespace

bool read_cubin_kernels(const ElfFile& file, bool resources, CubinFacts& facts) {
  const ElfSection* table = nullptr;
  for (const ElfSection& section : file.sections()) {
    if (section.type != SHT_SYMTAB) continue;
    if (table != nullptr) return false;
    table = &section;
  }
  return table == nullptr || KernelReader(file, resources, facts).read(*table);
}

}  // namespace sagekit
