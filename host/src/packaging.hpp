#pragma once
// Built cells -> wheels in a folder; shared by `build` and `package`.

#include "session.hpp"

#include <sagekit/build_report.hpp>

#include <vector>

namespace sagekit::host {

struct Packaging {
  std::vector<PackagedWheel> wheels;
  std::vector<RefusedCell> refused;
};

/// Verifies and packages each cell; says on the console what came out. An Error ends it: the output folder cannot be
/// written, or a name is taken by a different file.
Result<Packaging> package_cells(const Session& session, const Plugin& plugin, const std::vector<CellBuild>& builds,
                                const PackageOptions& options);

}  // namespace sagekit::host
