#pragma once
// An archive that begins as another one: what stands unchanged at its front is neither read nor written member by
// member.

#include "archive/wheel_archive.hpp"
#include "archive/zip_writer.hpp"

#include <filesystem>
#include <vector>

namespace sagekit {

/// Archives and directories that need no zip64 records; others are written whole.
inline constexpr std::uint64_t k_spliced_bytes = std::uint64_t{1} << 31;
inline constexpr std::size_t k_spliced_members = 30'000;

/// Writes the members of `archive` whose headers stand before `end`, which is one's offset, as they stand, headers and
/// all; behind them `entries`, as write_zip does. No entry has the name of one before `end`. The archive has no
/// problems of framing; both are within the limits above. Errors: PKG002 (machine), FIL002.
Status write_zip_after(const std::filesystem::path& file, const WheelArchive& archive, std::uint64_t end,
                       const std::vector<ZipEntry>& entries, DosTime time);

}  // namespace sagekit
