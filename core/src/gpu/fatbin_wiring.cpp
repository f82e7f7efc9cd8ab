#include "gpu/fatbin_wiring.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace sagekit {

namespace {

constexpr std::uint32_t k_wrapper_magic = 0x466243b1;  // fatbinary_section.h of the toolkit
constexpr std::uint64_t k_wrapper_size = 24, k_pointer_at = 8;
constexpr std::uint32_t k_section_relocations = 4;
constexpr std::uint64_t k_relocation_size = 24;
constexpr std::uint32_t k_relative_x86_64 = 8, k_relative_aarch64 = 1027;  // R_*_RELATIVE of the psABIs

/// Counts containers that have a wrapper.
class Wiring {
 public:
  explicit Wiring(const GpuCodeFacts& code) : m_code(code) {
    for (const Bytes& container : code.containers) m_starts.push_back(container.data());
    std::sort(m_starts.begin(), m_starts.end());
  }

  bool points_at(const std::optional<Bytes>& place) {
    if (!place || place->empty() || !std::binary_search(m_starts.begin(), m_starts.end(), place->data())) return false;
    m_wired.insert(place->data());
    return true;
  }

  FatbinWiring result() const { return {m_starts.size(), m_wired.size(), m_code.repeated}; }

 private:
  const GpuCodeFacts& m_code;
  std::vector<const char*> m_starts;
  std::set<const char*> m_wired;
};

/// Calls `see(offset in the section, stored pointer)` for each wrapper.
void for_each_wrapper(Bytes section, const std::function<void(std::uint64_t, std::uint64_t)>& see) {
  for (std::uint64_t at = 0; section.holds(at, k_wrapper_size); at += 8)
    if (section.u32(at) == k_wrapper_magic) see(at, section.u64(at + k_pointer_at));
}

/// Where relative relocations will put what: some linkers leave the place itself empty.
void follow_relocations(const ElfFile& file, const std::set<std::uint64_t>& places, Wiring& wiring) {
  const std::uint32_t relative = file.machine() == EM_AARCH64 ? k_relative_aarch64 : k_relative_x86_64;
  for (const ElfSection& section : file.sections()) {
    if (section.type != k_section_relocations || section.name != ".rela.dyn") continue;
    const Bytes table = file.content(section).value_or(Bytes());
    for (std::uint64_t at = 0; table.holds(at, k_relocation_size); at += k_relocation_size)
      if (table.u32(at + 8) == relative && places.contains(table.u64(at)))
        wiring.points_at(file.from_address(table.u64(at + 16)));
  }
}

}  // namespace

std::optional<FatbinWiring> read_wiring(const ElfFile& file, const GpuCodeFacts& code) {
  if (code.containers.empty() || file.type() == ET_REL || file.sections().empty()) return std::nullopt;
  Wiring wiring(code);
  const ElfSection* const section = file.section(".nvFatBinSegment");
  if (section == nullptr) return wiring.result();
  std::set<std::uint64_t> empty_places;
  for_each_wrapper(file.content(*section).value_or(Bytes()), [&](std::uint64_t at, std::uint64_t pointer) {
    if (!wiring.points_at(file.from_address(pointer))) empty_places.insert(section->address + at + k_pointer_at);
  });
  if (!empty_places.empty()) follow_relocations(file, empty_places, wiring);
  return wiring.result();
}

std::optional<FatbinWiring> read_wiring(const PeFile& file, Bytes bytes, const GpuCodeFacts& code) {
  if (code.containers.empty()) return std::nullopt;
  // The file holds addresses as they are when it is loaded where it wishes to be; ImageBase of the optional header.
  const std::uint64_t base = bytes.u64(std::uint64_t{bytes.u32(0x3c)} + 24 + 24);
  Wiring wiring(code);
  for (const PeSection& segment : file.sections) {
    if (segment.name != ".nvFatBi") continue;
    for_each_wrapper(segment.content, [&](std::uint64_t, std::uint64_t pointer) {
      for (const PeSection& section : file.sections)
        if (pointer - base >= section.address && pointer - base - section.address < section.content.size())
          wiring.points_at(section.content.from(pointer - base - section.address));
    });
  }
  return wiring.result();
}

}  // namespace sagekit
