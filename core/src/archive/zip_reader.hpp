#pragma once
// A strict reading of a zip archive's framing: which members it holds and where, and every way in which two readers
// could disagree about that. Nothing is inflated here. Layout: PKWARE APPNOTE 6.3; rules: PEP 427, PEP 491 and what the
// public package index enforces on upload (docs/findings/ZIP.md).

#include "support/bytes.hpp"
#include "support/problems.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sagekit::zip {
struct Directory;
}

namespace sagekit {

struct ZipMember {
  std::string name;
  std::uint16_t method = 0;  ///< k_zip_stored or k_zip_deflated, when `readable`
  std::uint16_t flags = 0;
  std::uint32_t crc32 = 0;
  std::uint64_t compressed_size = 0, size = 0;  ///< as claimed; checked when it is read
  std::uint64_t header_offset = 0;              ///< of the local header
  std::uint64_t data_offset = 0;
  std::uint32_t mode = 0;            ///< Unix mode, 0 = none recorded
  bool readable = true;              ///< framing is good enough to inflate it
  std::uint16_t time = 0, date = 0;  ///< of the last change, in MS-DOS form
  bool is_folder() const { return name.ends_with('/'); }
};

inline constexpr std::uint16_t k_zip_stored = 0, k_zip_deflated = 8;

/// Caps: a member above the first or an archive above the second is listed but never inflated.
inline constexpr std::uint64_t k_max_member_bytes = std::uint64_t{4} << 30;
inline constexpr std::uint64_t k_max_archive_bytes = std::uint64_t{32} << 30;
/// An archive that grows beyond `k_bomb_bytes` and by more than `k_bomb_ratio` is refused by the public index.
inline constexpr std::uint64_t k_bomb_bytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t k_bomb_ratio = 50;

/// The members in the order of the central directory. Nothing when there is no central directory to read at all; every
/// other fault is a problem (ZIP001 to ZIP039) and leaves the members that could be listed.
std::optional<std::vector<ZipMember>> read_zip(Bytes file, Problems& problems);

/// For an archive of `file_size` bytes that is read in pieces: what the bytes of the central directory alone tell, in
/// their order. `data_offset` stays 0 until `read_own_header`; problems as above.
std::vector<ZipMember> read_zip_directory(Bytes table, const zip::Directory& directory, std::uint64_t file_size,
                                          Problems& problems);

/// Compares a member's own header, with which `at` begins, with the central directory's and sets `data_offset`. A
/// difference, or data that reach beyond `limit` (an offset in the archive), is a problem and the member unreadable.
void read_own_header(Bytes at, std::uint64_t limit, ZipMember& member, Problems& problems);

}  // namespace sagekit
