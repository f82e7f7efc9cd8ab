#include "index/remote_exports.hpp"

#include "elf/elf_file.hpp"
#include "elf/symbol_tables.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>

namespace sagekit {

namespace {

// torch's string tables are 0.8 to 1.4 MB compressed; a fatbin before them can hold a megabyte without a block's start.
constexpr std::uint64_t k_first_end = 1'500'000, k_max_end = 16'000'000, k_max_end_content = std::uint64_t{128} << 20;
constexpr std::uint64_t k_first_beginning = 1024, k_step = 128 * 1024, k_max_step = 1 << 20;
constexpr std::uint64_t k_max_beginning = 12 << 20, k_max_beginning_content = std::uint64_t{64} << 20;
constexpr std::uint64_t k_max_sections = 4096, k_section_size = 64;

constexpr std::uint32_t k_type_gnu_hash = 0x6ffffff6, k_type_definitions = 0x6ffffffd, k_type_versions = 0x6fffffff;

/// A section's place, out of the section table.
struct Place {
  std::uint32_t type = 0, link = 0, info = 0;
  std::uint64_t offset = 0, size = 0;
};

/// The first of that type; null when there is none.
const Place* find(const std::vector<Place>& places, std::uint32_t type) {
  const auto found = std::ranges::find(places, type, &Place::type);
  return found == places.end() ? nullptr : &*found;
}

/// Reads from both ends and remembers that something was not to be had.
class Reader {
 public:
  Reader(RemoteWheel& wheel, const ZipMember& library, std::stop_token stop) : m_ends(wheel, library), m_stop(stop) {}

  /// Empty when it is not to be had; then `failed`.
  Result<std::string> read(std::uint64_t offset, std::uint64_t length) {
    if (m_failed) return std::string();
    TRY_ASSIGN(auto bytes, m_ends.read(offset, length, m_stop));
    m_failed = !bytes;
    return std::move(bytes).value_or(std::string());
  }
  Result<std::string> read(const Place* place) {
    if (place == nullptr) return std::string();
    return read(place->offset, place->size);
  }
  bool failed() const { return m_failed; }

 private:
  MemberEnds m_ends;
  std::stop_token m_stop;
  bool m_failed = false;
};

/// The dynamic segment lies in the middle of a large library, out of reach. Libraries are named by their soname, in
/// torch's wheels and in every one that auditwheel wrote; that name is then a string of its own in .dynstr.
std::optional<std::string> soname_of(const std::string& member_name, const std::string& strings) {
  std::string name = after_last(member_name, '/');
  if (strings.find('\0' + name + '\0') == std::string::npos) return std::nullopt;
  return name;
}

/// Nothing when this way does not lead to tables that fit together.
Result<std::optional<ExportList>> read_from_ends(RemoteWheel& wheel, const ZipMember& library, std::stop_token stop) {
  std::optional<ExportList> nothing;
  Reader reader(wheel, library, stop);
  TRY_ASSIGN(const std::string header_bytes, reader.read(0, 64));
  const Bytes header(header_bytes);
  const std::uint64_t section_count = header.u16(60);
  const std::uint16_t machine = header.u16(18);
  if (!ElfFile::looks_like(header) || header.u8(4) != 2 || header.u8(5) != 1 || header.u16(16) != ET_DYN ||
      (machine != EM_X86_64 && machine != EM_AARCH64) || header.u16(58) != k_section_size || section_count == 0 ||
      section_count > k_max_sections)
    return nothing;

  TRY_ASSIGN(const std::string table_bytes, reader.read(header.u64(40), section_count * k_section_size));
  const Bytes table(table_bytes);
  std::vector<Place> places;
  for (std::uint64_t at = 0; table.holds(at, k_section_size); at += k_section_size)
    places.push_back(
        {table.u32(at + 4), table.u32(at + 40), table.u32(at + 44), table.u64(at + 24), table.u64(at + 32)});
  const Place* const symbols_place = find(places, SHT_DYNSYM);
  const Place* const hash_place = find(places, k_type_gnu_hash);
  const Place* const definitions_place = find(places, k_type_definitions);
  if (symbols_place == nullptr || hash_place == nullptr || symbols_place->link >= places.size()) return nothing;

  // The end first: the names need it, and the rest is not asked for when they are not found.
  TRY_ASSIGN(const std::string strings, reader.read(&places[symbols_place->link]));
  TRY_ASSIGN(const std::string hash, reader.read(hash_place));
  TRY_ASSIGN(const std::string symbols, reader.read(symbols_place));
  std::string definitions;
  std::string versions;
  if (definitions_place != nullptr) {
    TRY_ASSIGN(definitions, reader.read(definitions_place));
    TRY_ASSIGN(versions, reader.read(find(places, k_type_versions)));
  }
  if (reader.failed()) return nothing;
  const auto soname = soname_of(library.name, strings);
  const SymbolTables tables{machine,
                            soname.value_or(std::string()),
                            Bytes(symbols),
                            Bytes(strings),
                            Bytes(versions),
                            Bytes(definitions),
                            definitions_place == nullptr ? 0 : std::uint64_t{definitions_place->info}};
  if (!soname || !names_match_hashes(tables, Bytes(hash))) return nothing;
  auto exports = list_exports(tables);
  return exports ? std::optional(std::move(*exports)) : nothing;
}

/// Nothing when this way does not lead to a directory that holds together.
Result<std::optional<DllExports>> read_dll_from_ends(RemoteWheel& wheel, const ZipMember& library,
                                                     std::stop_token stop) {
  Reader reader(wheel, library, stop);
  TRY_ASSIGN(const std::string beginning, reader.read(0, std::min(library.size, k_pe_beginning)));
  const auto place = find_export_directory(Bytes(beginning));
  if (!place) return std::nullopt;
  TRY_ASSIGN(const std::string directory, reader.read(place->offset, place->size));
  if (reader.failed()) return std::nullopt;
  auto exports = read_export_directory(Bytes(directory), place->address);
  return exports ? std::optional(std::move(*exports)) : std::nullopt;
}

}  // namespace

Result<std::optional<std::string>> MemberEnds::read(std::uint64_t offset, std::uint64_t length, std::stop_token stop) {
  if (offset > m_member.size || length > m_member.size - offset) return std::nullopt;
  if (m_member.method == k_zip_stored) {
    if (length > k_max_beginning_content) return std::nullopt;
    TRY_ASSIGN(std::string bytes, m_wheel.read_compressed(m_member, offset, length, stop));
    return std::optional(std::move(bytes));
  }
  const std::uint64_t behind = m_member.size - offset - length;
  return offset + length <= m_beginning.content().size() || offset <= behind ? read_beginning(offset, length, stop)
                                                                             : read_end(offset, length, stop);
}

Result<std::optional<std::string>> MemberEnds::read_beginning(std::uint64_t offset, std::uint64_t length,
                                                              std::stop_token stop) {
  const std::uint64_t wanted = offset + length;
  if (wanted > k_max_beginning_content) return std::nullopt;
  if (!m_beginning.feed({}, wanted)) return std::nullopt;
  while (m_beginning.content().size() < wanted) {
    // As much more as the bytes so far let expect: one or two requests, and little that is not needed.
    const std::uint64_t have = m_beginning.content().size();
    const std::uint64_t expected = have == 0 ? 0 : (wanted - have) * m_fed / have * 9 / 8;
    std::uint64_t step = m_fed == 0 ? k_first_beginning : std::clamp(expected, k_step, k_max_step);
    step = std::min(step, m_member.compressed_size - m_fed);
    if (step == 0 || m_fed > k_max_beginning) return std::nullopt;
    TRY_ASSIGN(const std::string piece, m_wheel.read_compressed(m_member, m_fed, step, stop));
    m_fed += piece.size();
    if (!m_beginning.feed(piece, wanted)) return std::nullopt;
  }
  return std::optional(m_beginning.content().substr(offset, length));
}

Result<std::optional<std::string>> MemberEnds::read_end(std::uint64_t offset, std::uint64_t length,
                                                        std::stop_token stop) {
  for (;;) {
    if (m_tail && m_tail->size() <= m_member.size) {
      const std::uint64_t begin = m_member.size - m_tail->size();
      if (offset >= begin)
        if (const auto bytes = m_tail->known(offset - begin, length)) return std::optional(std::string(*bytes));
    }
    const std::uint64_t all = std::min(m_member.compressed_size, k_max_end);
    const std::uint64_t next = std::min(all, m_end.empty() ? k_first_end : std::uint64_t{m_end.size()} * 3 / 2);
    if (next <= m_end.size()) return std::nullopt;
    const std::uint64_t at = m_member.compressed_size - next;
    TRY_ASSIGN(std::string piece, m_wheel.read_compressed(m_member, at, next - m_end.size(), stop));
    m_end.insert(0, piece);
    m_tail = InflatedTail::read(m_end, k_max_end_content);
  }
}

Result<ExportList> read_exports(RemoteWheel& wheel, const ZipMember& library, std::stop_token stop) {
  if (library.compressed_size > k_first_end) {
    TRY_ASSIGN(auto exports, read_from_ends(wheel, library, stop));
    if (exports) return std::move(*exports);
  }
  TRY_ASSIGN(const std::string content, wheel.read(library.name, stop));
  return read_exports(content);
}

Result<DllExports> read_dll_exports(RemoteWheel& wheel, const ZipMember& library, std::stop_token stop) {
  if (library.compressed_size > k_first_end) {
    TRY_ASSIGN(auto exports, read_dll_from_ends(wheel, library, stop));
    if (exports) return std::move(*exports);
  }
  TRY_ASSIGN(const std::string content, wheel.read(library.name, stop));
  return read_dll_exports(content);
}

}  // namespace sagekit
