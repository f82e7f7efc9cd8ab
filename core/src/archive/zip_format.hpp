#pragma once
// Records of a zip archive, read one by one (PKWARE APPNOTE 6.3, sections 4.3.7 to 4.3.16).
// Used by zip_reader and by what reads wheels over ranges.

#include "support/bytes.hpp"
#include "support/problems.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace sagekit::zip {

inline constexpr std::uint32_t k_local = 0x04034b50, k_central = 0x02014b50, k_end = 0x06054b50, k_end64 = 0x06064b50,
                               k_locator64 = 0x07064b50;
inline constexpr std::uint64_t k_local_size = 30, k_central_size = 46, k_end_size = 22, k_end64_size = 56,
                               k_locator64_size = 20;
inline constexpr std::uint32_t k_in_extra = 0xffffffff;  ///< "the real number is in the zip64 extra field"

inline constexpr std::uint16_t k_flag_descriptor = 0x0008;  ///< sizes and checksum stand behind the data

/// Where the central directory is.
struct Directory {
  std::uint64_t offset = 0, size = 0, entries = 0;
  std::uint64_t shift = 0;  ///< bytes somebody put before the archive: every recorded offset is short by these
};

/// Finds the end record, and the zip64 one if there is one, and checks them against each other and the file. `tail` is
/// the end of a file of `file_size` bytes, as much of it as is at hand (the whole file, or 64 KiB and more).
std::optional<Directory> find_directory(Bytes tail, std::uint64_t file_size, Problems& problems);

/// What both kinds of member header say.
struct Header {
  std::uint16_t flags = 0, method = 0;
  std::uint32_t crc32 = 0;
  std::uint64_t compressed_size = 0, size = 0;
  std::uint16_t time = 0, date = 0;  ///< MS-DOS form
  std::string_view name;
  std::uint64_t length = 0;  ///< of the header with name, extra field and comment
  // Central directory only:
  std::uint64_t local_offset = 0;
  std::uint32_t attributes = 0;
  std::uint64_t comment_size = 0;
  std::uint32_t disk = 0;
};

/// Nothing when there is no such header, or it is cut off. A bad extra field is a problem (ZIP021).
std::optional<Header> read_local(Bytes at, Problems& problems);
std::optional<Header> read_central(Bytes at, Problems& problems);

/// A member's name for a message: what cannot be printed becomes "?".
std::string printable(std::string_view name);

}  // namespace sagekit::zip
