#pragma once
// Rules about the members of a zip archive that need no second look at its bytes. Used by zip_reader only.

#include "archive/zip_reader.hpp"

namespace sagekit::zip {

/// Method, flags, file type and sizes of each member; what cannot be inflated becomes unreadable.
void check_members(std::vector<ZipMember>& members, Problems& problems);
/// Names that are unsafe to unpack, not UTF-8, or the same to some reader or file system.
void check_names(const std::vector<ZipMember>& members, Problems& problems);
/// Claimed sizes against the caps and against what DEFLATE can do; an archive that breaks them is not inflated.
void check_growth(std::vector<ZipMember>& members, std::uint64_t archive_size, Problems& problems);
/// What hurts nobody who installs the archive, but tells how it was made: times and modes. Notes only.
void check_looks(const std::vector<ZipMember>& members, Problems& problems);
/// A file may not be a zip and a tar archive at once.
void check_not_tar(Bytes file, Problems& problems);

}  // namespace sagekit::zip
