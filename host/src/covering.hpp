#pragma once
// What of a plan is published already; for `coverage`, and for the verbs that make only the rest.

#include "session.hpp"

#include <sagekit/coverage.hpp>
#include <sagekit/doctor.hpp>

#include <string>
#include <vector>

namespace sagekit::host {

struct Covered {
  Plan plan;
  std::vector<CoverageRow> rows;
};

/// Plans, fetching nothing, and holds the plan against what `place` has: a folder of wheels, a manifest, or the address
/// of an index or a manifest. A folder or index that has no wheel publishes nothing.
Result<Covered> covered_by(const Session& session, const Plugin& plugin, const Request& request,
                           const ToolchainOptions& tools, const std::string& place);

/// The request for only the cells that `place` lacks, has from another source, or has failing; says how many.
Result<Request> only_missing(const Session& session, const Plugin& plugin, const Request& request,
                             const ToolchainOptions& tools, const std::string& place);

inline constexpr const char* k_missing_from_text =
    "Only cells that this folder, sagekit.release.json or index address lacks, or has from another source or failing";

}  // namespace sagekit::host
