#pragma once
// Packages that lie in a folder: which there are, and what is in them. Links are not followed out of the folder, and
// nothing but regular files is opened.

#include <sagekit/error.hpp>
#include <sagekit/inspect.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sagekit {

struct PackageFolder {
  /// An unpacked wheel, or what an installer made of one, each with its dist-info; or any folder without one.
  enum class Kind { unpacked, installed, plain };

  std::filesystem::path root;  ///< in which the members lie
  std::string dist_info;       ///< folder name; "" = there is none
  Kind kind = Kind::plain;
};

/// What `folder` is, and which of its packages are chosen: those of these project names, in any spelling; without any
/// all that have native modules. Errors: FIL001 (usage), VFY004 (no_match), VFY005, VFY008 (failed).
Result<std::vector<PackageFolder>> find_packages(const std::filesystem::path& folder,
                                                 const std::vector<std::string>& projects);

/// What was read of one package.
struct PackageReading {
  std::vector<MemberFacts> members;  ///< sorted by path, with their hashes
  WheelFacts wheel;                  ///< its name made of METADATA and WHEEL; problems of dist-info
  std::size_t outside = 0;           ///< files that RECORD lists beyond the folder: scripts
};

/// Reads every file of it: of an installed package those that its RECORD lists. Compiled Python files are passed over:
/// Python itself writes them.
Result<PackageReading> read_package(const PackageFolder& package, const InspectOptions& options);

}  // namespace sagekit
