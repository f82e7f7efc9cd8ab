#include "gpu/gpu_scan.hpp"

#include "elf/elf_file.hpp"
#include "gpu/cubin_reader.hpp"
#include "gpu/fatbin_reader.hpp"
#include "support/format.hpp"

#include <algorithm>
#include <cstring>

namespace sagekit {

namespace {

// First words, little-endian, of a container and of any ELF64 file.
constexpr std::uint64_t k_fatbin_start = 0x00100001'ba55ed50;
constexpr std::uint64_t k_elf_start = 0x0001'0102'464c'457f;
constexpr std::uint64_t k_no_size = std::uint64_t{1} << 40;
constexpr std::uint64_t k_piece = std::uint64_t{4} << 20;
constexpr std::uint64_t k_elf_mask = 0x00ff'ffff'ffff'ffff;  // the eighth byte is the OS ABI

/// Offset of the first candidate at or after `at`, before `end`; `end` when there is none. Words are read in blocks so
/// that the loop without a hit, which is nearly all of them, runs at the speed of memory.
std::uint64_t next_candidate(Bytes file, std::uint64_t at, std::uint64_t end) {
  constexpr std::uint64_t block = 16;
  const auto matches = [](std::uint64_t word) { return word == k_fatbin_start || (word & k_elf_mask) == k_elf_start; };
  while (end - at >= block * 8) {
    std::uint64_t words[block];
    std::memcpy(words, file.data() + at, sizeof words);
    bool hit = false;
    for (const std::uint64_t word : words) hit |= matches(word);
    if (hit) break;
    at += block * 8;
  }
  for (; end - at >= 16; at += 8)
    if (matches(file.u64(at))) return at;
  return end;
}

class Scanner {
 public:
  Scanner(Bytes file, Problems& problems, const PassedBytes& passed)
      : m_file(file), m_problems(problems), m_passed(passed) {}

  void scan(std::uint64_t begin, std::uint64_t end) {
    std::uint64_t at = aligned(begin, 8).value_or(end);
    while (at < end) {
      const std::uint64_t from = at, stop = std::min(end, at + k_piece);
      at = next_candidate(m_file, at, stop);
      if (m_passed && at - from > k_piece / 2) m_passed(m_file.view().substr(from, at - from));
      if (at >= stop) {
        if (stop == end) return;
        at = stop - 8;  // the last place of this piece, whose header reaches into the next
        continue;
      }
      at += take(m_file.slice(at, end - at).value_or(Bytes()), at);
    }
  }

  HiddenCode take_found() { return std::move(m_found); }

 private:
  /// Bytes to go on by; always a multiple of 8.
  std::uint64_t take(Bytes rest, std::uint64_t at) {
    if (looks_like_fatbin(rest)) return take_fatbin(rest, at);
    if (at == 0 || !looks_like_cubin(rest)) return 8;
    Problems ignored(m_problems.where());
    const auto elf = ElfFile::read(rest, ignored);
    // A damaged one is kept: reading it will say what is wrong.
    const std::uint64_t extent = elf && !ignored.has_errors() ? elf->extent() : rest.size();
    m_found.cubins.push_back(rest.slice(0, extent).value_or(rest));
    return elf && !ignored.has_errors() ? aligned(extent, 8).value_or(8) : 64;
  }

  std::uint64_t take_fatbin(Bytes rest, std::uint64_t at) {
    // Tools that write fatbins hold an empty header as a template, and programs that read them the first word as a
    // number in their code, with an instruction after it where the size would be.
    if (rest.u64(8) == 0 || rest.u64(8) >= k_no_size) return 8;
    const auto extent = container_extent(rest);
    if (!extent) {
      m_problems.error("FAT001", fmt::format("a fatbin outside the known sections, at offset {}, is cut off", at));
      return 8;
    }
    m_found.fatbins.push_back(rest.slice(0, *extent).value_or(rest));
    return aligned(*extent, 8).value_or(8);
  }

  Bytes m_file;
  Problems& m_problems;
  const PassedBytes& m_passed;
  HiddenCode m_found;
};

}  // namespace

HiddenCode find_hidden_code(Bytes file, const std::vector<FileStretch>& known, Problems& problems,
                            const PassedBytes& passed) {
  Scanner scanner(file, problems, passed);
  std::uint64_t at = 0;
  for (const FileStretch& range : known) {
    scanner.scan(at, std::min(range.offset, file.size()));
    at = std::max(at, range.offset + range.size);
  }
  if (at < file.size()) scanner.scan(at, file.size());
  return scanner.take_found();
}

}  // namespace sagekit
