#pragma once
// The build record of a cell: what `package` needs of a build, whoever made it and whenever.

#include <sagekit/build.hpp>

#include <filesystem>
#include <string>

namespace sagekit {

/// Files are named below the folder that holds the record: tree/ARCHIVE_PATH and licenses/ARCHIVE_PATH.
std::string build_record_text(const CellBuild& build);

/// Reads one folder's build.json. STO004 (usage) when it is missing or not understood.
Result<CellBuild> read_build_record(const std::filesystem::path& folder);

}  // namespace sagekit
