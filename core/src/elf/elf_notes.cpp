#include "elf/elf_notes.hpp"

#include "elf/elf_file.hpp"
#include "support/format.hpp"

#include <bit>

namespace sagekit {

namespace {

// Notes of the owner "GNU" and the properties of x86 (gABI's Linux extensions, x86-64 psABI).
constexpr std::uint32_t k_build_id = 3, k_properties = 5, k_isa_needed = 0xc0008002;
constexpr std::uint64_t k_longest_id = 64;  // a SHA-512; GNU ld writes 20 bytes

std::string hex(Bytes bytes) {
  std::string text;
  for (std::uint64_t i = 0; i < bytes.size(); ++i) text += fmt::format("{:02x}", bytes.u8(i));
  return text;
}

/// Properties are type, size, value padded to 8 bytes (of a 64-bit file).
std::string isa_of(Bytes properties) {
  for (std::uint64_t at = 0; properties.holds(at, 8);) {
    const std::uint32_t type = properties.u32(at);
    const std::uint64_t size = properties.u32(at + 4);
    const auto value = properties.slice(at + 8, size);
    if (!value) return {};
    // One bit for each level; bit 0 is the baseline, which every machine has.
    const std::uint32_t levels = type == k_isa_needed && size >= 4 ? value->u32(0) & 15 : 0;
    if (levels > 1) return fmt::format("x86-64-v{}", std::bit_width(levels));
    at += 8 + ((size + 7) & ~std::uint64_t{7});
  }
  return {};
}

}  // namespace

void read_elf_notes(Bytes notes, std::uint16_t machine, ElfFacts& facts) {
  for (std::uint64_t at = 0; notes.holds(at, 12);) {
    const std::uint64_t name_size = notes.u32(at), size = notes.u32(at + 4);
    const std::uint32_t type = notes.u32(at + 8);
    const std::uint64_t content_at = at + 12 + ((name_size + 3) & ~std::uint64_t{3});
    const auto content = notes.slice(content_at, size);
    if (!content) return;
    const bool gnu = notes.from(at + 12).starts_with(std::string_view("GNU\0", 4)) && name_size == 4;
    if (gnu && type == k_build_id && size <= k_longest_id && facts.build_id.empty()) facts.build_id = hex(*content);
    if (gnu && type == k_properties && machine == EM_X86_64 && facts.isa.empty())
      facts.isa = isa_of(*content);
    at = content_at + ((size + 3) & ~std::uint64_t{3});
  }
}

}  // namespace sagekit
