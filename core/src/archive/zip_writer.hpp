#pragma once
// Writes zip archives whose bytes depend on nothing but their members.

#include "archive/deflate_parts.hpp"
#include "support/parallel.hpp"

#include <sagekit/error.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// The time that all members get, as zip stores it (MS-DOS: two-second steps, no zone; here UTC).
struct DosTime {
  std::uint16_t date = (1 << 5) | 1;  ///< 1980-01-01
  std::uint16_t time = 0;
  bool operator==(const DosTime&) const = default;
};

/// "2026-01-17T17:43:28Z". What zip cannot say (before 1980, after 2107, not a time) becomes 1980-01-01.
DosTime dos_time(std::string_view rfc3339_utc);

/// What another archive says of a member that is copied out of it as it is.
struct CopiedMember {
  std::uint16_t method = 0;  ///< k_zip_stored or k_zip_deflated
  std::uint64_t size = 0;    ///< of the content
  std::uint32_t crc32 = 0;   ///< of the content
  DosTime time;
  std::uint32_t mode = 0;  ///< Unix mode; 0 = a plain file's
};

/// A member; its bytes must stay where they are until the archive is written.
struct ZipEntry {
  std::string name;
  std::string_view bytes;                   ///< the content; of a copied member its stream
  std::optional<CopiedMember> copied = {};  ///< neither inflated nor deflated again
  std::vector<std::uint64_t> cuts = {};     ///< offsets at which compressing begins anew
};

/// Writes the members in their order: deflated, mode 0644, made on Unix, no data descriptor, no extra field; a copied
/// one with its own stream, time and mode. They are compressed side by side on `threads` threads; the bytes are the
/// same for any number of them, and whatever is in `kept`, where parts of members with cuts are found and left. Errors:
/// PKG002 (machine) when the file cannot be written.
Status write_zip(const std::filesystem::path& file, const std::vector<ZipEntry>& entries, DosTime time,
                 unsigned threads = available_threads(), CompressedParts* kept = nullptr);

}  // namespace sagekit
