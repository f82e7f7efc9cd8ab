#pragma once
// Unpacks and reads archives, by libarchive.

#include <sagekit/error.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace sagekit {

/// Unpacks a .tar, .tar.gz, .tar.zst, .tar.xz or .zip into the folder `into`. Only files, folders and symbolic links; a
/// path that leaves `into` (absolute, `..`, through a link) is an error. Modes: executable or not. SRC005 (usage) for
/// what is no archive, is damaged, or unpacks to more than 4 GiB or 200,000 entries.
Status unpack_archive(const std::filesystem::path& archive, const std::filesystem::path& into);

/// How much `read_archive` takes before it stops.
struct ArchiveLimits {
  std::uint64_t file_bytes = std::uint64_t{1} << 30;  ///< of one file, all of which is in memory
  std::uint64_t all_bytes = std::uint64_t{32} << 30;  ///< of all that is unpacked
  std::size_t entries = 200'000;
};

/// Calls `visit` with every plain file of an archive in memory and its content, which is good until the call returns:
/// tar, ar (a .deb, whose inner data.tar is read as well), cpio, zip; with gzip, xz, zstd, bzip2 or no compression.
/// Nothing is unpacked to disk. Errors (failed): INS060 what is no such archive, is damaged, or passes a limit; what
/// was visited before was there. An error that `visit` returns ends the walk and is returned.
Status read_archive(std::string_view bytes, const ArchiveLimits& limits,
                    const std::function<Status(const std::string& path, std::string_view content)>& visit);

/// The only folder at the top of `folder` when there is nothing beside it (what hosting sites put around a tree), else
/// `folder` itself.
std::filesystem::path strip_single_folder(const std::filesystem::path& folder);

}  // namespace sagekit
