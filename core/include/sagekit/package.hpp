#pragma once
// VerifiedBuild -> wheel file, judged again, then renamed into place.

#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/plan.hpp>
#include <sagekit/plugin.hpp>
#include <sagekit/verify.hpp>

#include <filesystem>
#include <memory>
#include <string>

namespace sagekit {

/// GPU code that several wheels share, compressed; kept as long as somebody holds it.
class CompressedParts;
SAGEKIT_API std::shared_ptr<CompressedParts> make_compressed_parts();

struct PackageOptions {
  std::filesystem::path output_folder;
  std::string naming;                      ///< scheme; "" = the cell's name as planned
  std::vector<NamingScheme> schemes = {};  ///< a configuration's rows: they stand before all others
  VerifyOptions verify;
  std::shared_ptr<CompressedParts> compressed = {};  ///< the same for all wheels of a matrix; bytes do not depend on it
};

struct PackagedWheel {
  std::string cell;
  std::filesystem::path path;  ///< final
  std::string sha256;
  std::uint64_t size_bytes = 0;
  WheelReport report;
  bool unchanged = false;  ///< the same bytes were already there under that name
};

/// Before anything is compiled: PKG001 (failed) when the name of the cell's wheel is taken in the folder by a file that
/// this plan cannot make: one that is no wheel of sagekit's, or that says it was made from another source, for another
/// cell or other GPUs. A wheel that says the same may turn out to be the same: write_package compares the bytes.
SAGEKIT_API Status check_wheel_name(const Plan& plan, const Cell& cell, const std::filesystem::path& output_folder);

/// Writes a temporary wheel beside the output folder's files (same file system), judges it, renames it into place.
/// Bytes depend on content only: sorted members, dist-info last, RECORD the last member, SOURCE_DATE_EPOCH of the
/// revision, fixed modes. A different file under the same name is refused (PKG001, kind failed); nothing half-written
/// is ever visible under a final name. A wheel that the judgement fails is removed and its report is in the error
/// branch.
SAGEKIT_API Result<Verdict<PackagedWheel>> write_package(const VerifiedBuild& build, const Spec& spec,
                                                         const Plugin* plugin, const Revision& revision,
                                                         const PackageOptions& options, CommandRunner& runner);

/// What `build` and `package` do with a build: judges the staged files, writes their wheel, judges that. The verdict is
/// kept beside the build's record (CellBuild::record): while the wheel made of it is in the output folder, and nothing
/// that the verdict depends on has changed, neither is done again; while it is not there, it is packed again and known
/// by its bytes. PKG004 (usage): the plugin does not know the revision that it was built from.
SAGEKIT_API Result<Verdict<PackagedWheel>> package_build(const CellBuild& build, const Plugin& plugin,
                                                         const PackageOptions& options, CommandRunner& runner);

}  // namespace sagekit
