#pragma once
// Unpacks archives; the one place in core that includes libarchive.

#include <sagekit/error.hpp>

#include <filesystem>

namespace sagekit {

/// Unpacks a .tar, .tar.gz, .tar.zst, .tar.xz or .zip into the folder `into`. Only files, folders and symbolic links; a
/// path that leaves `into` (absolute, `..`, through a link) is an error. Modes: executable or not. SRC005 (usage) for
/// what is no archive, is damaged, or unpacks to more than 4 GiB or 200,000 entries.
Status unpack_archive(const std::filesystem::path& archive, const std::filesystem::path& into);

/// The only folder at the top of `folder` when there is nothing beside it (what hosting sites put around a tree), else
/// `folder` itself.
std::filesystem::path strip_single_folder(const std::filesystem::path& folder);

}  // namespace sagekit
