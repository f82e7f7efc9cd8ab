#include "gpu/fatbin_reader.hpp"

#include "support/format.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

namespace {

constexpr std::uint64_t k_entry_header = 64, k_max_entry_header = 1 << 20;
// Payloads are padded to 8; toolkits before 10 added 8 even to those that needed none (wheels of 8.0, 9.0, 9.2).
constexpr std::uint64_t k_most_padding = 8;
constexpr std::uint16_t k_container_version = 1, k_entry_version = 0x0101;
constexpr std::uint16_t k_kind_ptx = 1, k_kind_cubin = 2, k_kind_lto = 8;
constexpr std::uint64_t k_flag_lz4 = 0x2000, k_flag_zstd = 0x8000, k_flag_old_compression = 0x1000,
                        k_flag_arch_a = 0x100000, k_flag_arch_f = 0x200000;
constexpr std::uint64_t k_passed_step = std::uint64_t{2} << 20;
constexpr std::uint32_t k_min_sm = 10, k_max_sm = 999;

/// Offset of the next container header at or after `at`, on the 8-byte grid they lie on.
std::uint64_t next_container(Bytes area, std::uint64_t at) {
  at = aligned(at, 8).value_or(area.size());
  while (at < area.size() && !looks_like_fatbin(area.from(at))) at += 8;
  return std::min(at, area.size());
}

class ContainerReader {
 public:
  ContainerReader(FatbinList& list, Problems& problems) : m_list(list), m_problems(problems) {}

  void read(Bytes entries, std::uint64_t offset) {
    m_list.containers.push_back(offset);
    std::uint64_t at = 0;
    while (at < entries.size()) {
      const auto header = entries.slice(at, k_entry_header);
      if (!header) return m_problems.error("FAT002", "a fatbin entry header is cut off");
      const std::uint64_t header_size = header->u32(4);
      const std::uint64_t payload_size = header->u64(8);
      if (header->u16(2) != k_entry_version || header_size < k_entry_header || header_size > k_max_entry_header ||
          header_size % 8 != 0)
        return m_problems.error("FAT002", fmt::format("a fatbin entry has an unknown header (version {:#x}, {} bytes)",
                                                      header->u16(2), header_size));
      const auto whole = entries.slice(at, header_size);
      const auto payload = entries.slice(at + header_size, payload_size);
      if (!whole || !payload)
        return m_problems.error("FAT002",
                                fmt::format("a fatbin entry of {} bytes reaches beyond its container", payload_size));
      read_entry(*header, *payload);
      at += header_size + payload_size;
    }
  }

 private:
  void read_entry(Bytes header, Bytes payload) {
    FatbinImage image;
    const std::uint16_t kind = header.u16(0);
    if (kind == k_kind_ptx)
      image.kind = ImageKind::ptx;
    else if (kind == k_kind_cubin)
      image.kind = ImageKind::cubin;
    else if (kind == k_kind_lto)
      image.kind = ImageKind::lto;
    else
      return m_problems.error("FAT003", fmt::format("a fatbin entry is of unknown kind {:#x}", kind));

    const std::uint32_t sm = header.u32(0x1c);
    if (sm < k_min_sm || sm > k_max_sm)
      return m_problems.error("FAT004", fmt::format("a fatbin entry is for the impossible SM number {}", sm));
    image.arch.capability = {static_cast<int>(sm / 10), static_cast<int>(sm % 10)};
    const std::uint64_t flags = header.u64(0x28);
    if ((flags & k_flag_arch_a) != 0 && (flags & k_flag_arch_f) != 0)
      m_problems.error("FAT004", fmt::format("a fatbin entry for SM {} is marked `a` and `f` at once", sm));
    if ((flags & k_flag_arch_a) != 0)
      image.arch.suffix = ArchSuffix::a;
    else if ((flags & k_flag_arch_f) != 0)
      image.arch.suffix = ArchSuffix::f;
    image.version_minor = header.u16(0x18);
    image.version_major = header.u16(0x1a);
    read_storage(image, header, payload, flags);
    image.container = m_list.containers.size() - 1;
    m_list.images.push_back(image);
  }

  void read_storage(FatbinImage& image, Bytes header, Bytes payload, std::uint64_t flags) {
    const std::uint64_t compressed = header.u32(0x10);
    image.stored = payload;
    image.size = payload.size();
    if (image.kind == ImageKind::lto) {
      // LTO intermediate code is not in a public form; the compression flags on it do not mean what they say.
      image.readable = false;
      return;
    }
    const bool lz4 = (flags & k_flag_lz4) != 0;
    const bool zstd = (flags & k_flag_zstd) != 0;
    const bool marked = lz4 || zstd || (flags & k_flag_old_compression) != 0;
    if (!marked && compressed == 0) return;
    const auto stored = payload.slice(0, compressed);
    if (lz4 == zstd || compressed == 0 || !stored || payload.size() - compressed > k_most_padding) {
      image.readable = false;
      return m_problems.error("FAT005", fmt::format("the fatbin image for {} is compressed in an unknown way (flags "
                                                    "{:#x}, {} of {} bytes)",
                                                    sm_name(image.arch), flags, compressed, payload.size()));
    }
    image.stored = *stored;
    image.compression = lz4 ? ImageCompression::lz4 : ImageCompression::zstd;
    image.size = header.u64(0x38);
    if (image_size_is_sane(image.stored.size(), image.size)) return;
    image.readable = false;
    m_problems.error("FAT006", fmt::format("the fatbin image for {} claims to grow from {} to {} bytes",
                                           sm_name(image.arch), image.stored.size(), image.size));
  }

  FatbinList& m_list;
  Problems& m_problems;
};

}  // namespace

bool looks_like_fatbin(Bytes bytes) {
  return bytes.u32(0) == k_fatbin_magic && bytes.u16(4) == k_container_version && bytes.u16(6) == k_container_header;
}

std::optional<std::uint64_t> container_extent(Bytes bytes) {
  if (!looks_like_fatbin(bytes) || !bytes.holds(k_container_header, bytes.u64(8))) return std::nullopt;
  return k_container_header + bytes.u64(8);
}

FatbinList read_fatbins(Bytes area, Problems& problems, const PassedBytes& passed) {
  FatbinList list;
  ContainerReader reader(list, problems);
  std::uint64_t at = 0, told = 0;
  while (at < area.size()) {
    if (passed && at - told >= k_passed_step) {
      passed(area.view().substr(told, at - told));
      told = at;
    }
    const Bytes rest = area.from(at);
    if (rest.view().substr(0, 8).find_first_not_of('\0') == std::string_view::npos) {
      at += 8;
      continue;
    }
    if (const auto extent = container_extent(rest)) {
      reader.read(rest.slice(k_container_header, *extent - k_container_header).value_or(Bytes()), at);
      at += aligned(*extent, 8).value_or(*extent);
      continue;
    }
    if (looks_like_fatbin(rest)) {
      problems.error("FAT001", fmt::format("the fatbin at offset {} says {} bytes, but {} are left", at, rest.u64(8),
                                           rest.size()));
      reader.read(rest.from(k_container_header), at);
      return list;
    }
    problems.error("FAT001", fmt::format("what lies at offset {} of the fatbin section is no fatbin", at));
    at = next_container(area, at + 8);
  }
  return list;
}

std::string toolkit_of_ptx(int major, int minor) {
  // "PTX ISA" manual, release history: ISA major, minor, first CUDA release with it.
  struct Row {
    int major, minor;
    const char* toolkit;
  };
  static constexpr std::array rows = {
      Row{6, 0, "9.0"},  Row{6, 1, "9.1"},  Row{6, 2, "9.2"},  Row{6, 3, "10.0"}, Row{6, 4, "10.1"}, Row{6, 5, "10.2"},
      Row{7, 0, "11.0"}, Row{7, 1, "11.1"}, Row{7, 2, "11.2"}, Row{7, 3, "11.3"}, Row{7, 4, "11.4"}, Row{7, 5, "11.5"},
      Row{7, 6, "11.6"}, Row{7, 7, "11.7"}, Row{7, 8, "11.8"}, Row{8, 0, "12.0"}, Row{8, 1, "12.1"}, Row{8, 2, "12.2"},
      Row{8, 3, "12.3"}, Row{8, 4, "12.4"}, Row{8, 5, "12.5"}, Row{8, 6, "12.7"}, Row{8, 7, "12.8"}, Row{8, 8, "12.9"},
      Row{9, 0, "13.0"}, Row{9, 1, "13.1"}, Row{9, 2, "13.2"}};
  for (const Row& row : rows)
    if (row.major == major && row.minor == minor) return row.toolkit;
  return {};
}

}  // namespace sagekit
