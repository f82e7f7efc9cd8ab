#pragma once
// Microsoft's headers and libraries in a folder, as clang-cl's /winsysroot and `xwin splat --use-winsysroot-style` have
// them: VC/Tools/MSVC/VERSION and Windows Kits/10. sagekit brings none of them: they may not be passed on.

#include "environment/probe.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sagekit {

/// Of the newest version of each that the folder has; names are whatever a release's are, nothing is asked of them.
struct MicrosoftFolders {
  std::string tools, sdk;                        ///< "14.44.35207", "10.0.26100.0"
  std::vector<std::filesystem::path> includes;   ///< in the order in which they are searched
  std::vector<std::filesystem::path> libraries;  ///< for x86-64
};

/// Nothing when the folder is not laid out so at all.
std::optional<MicrosoftFolders> microsoft_folders(const std::filesystem::path& root);

/// As a host compiler of kind "msvc" whose executable is the folder; not ready when a header or library is missing
/// that every module needs.
HostCompiler probe_microsoft(const Found& found);

}  // namespace sagekit
