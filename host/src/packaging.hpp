#pragma once
// Built cells -> wheels in a folder; shared by `build` and `package`.

#include "session.hpp"

#include <sagekit/build_report.hpp>

#include <vector>

namespace sagekit::host {

struct Packaging {
  std::vector<PackagedWheel> wheels;
  std::vector<RefusedCell> refused;
  std::vector<StepFailure> failed;  ///< whose name is taken by another wheel; said already
};

/// A cell whose wheel's name is taken: says so, and gives what machines are told.
StepFailure taken_name(const Session& session, const std::string& cell, const Error& error);

/// A cell whose wheel could not be written, for machines.
StepFailure not_packaged(const std::string& cell, const Error& error);

/// Verifies and packages each cell; says on the console what came out. A name that is taken ends that cell alone. An
/// Error ends all: the output folder cannot be written.
Result<Packaging> package_cells(const Session& session, const Plugin& plugin, const std::vector<CellBuild>& builds,
                                const PackageOptions& options);

}  // namespace sagekit::host
