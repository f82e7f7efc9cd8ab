#pragma once
// Planned minus published: which cells of a plan nobody can install yet.

#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/index.hpp>
#include <sagekit/plan.hpp>
#include <sagekit/release.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

enum class CoverageState {
  published,  ///< a wheel for the cell, from the plan's source, is there
  missing,    ///< none
  stale,      ///< one is there, from another revision of the source or with other GPU code, or it does not say
  failing,    ///< one is there and fails its judgement
};

struct CoverageRow {
  std::string cell;
  std::string wheel;  ///< that would be made
  CoverageState state = CoverageState::missing;
  std::string published;  ///< the file that is there; "" = none
  std::string why;        ///< of what is not published: in a sentence
};

/// A row for each cell of the plan, in its order. A wheel covers a cell when it is the same project and says the same
/// Python, torch, CUDA and platform, and no other arches; what it does not say it does not cover, unless its name is
/// the one that the cell's wheel would have, which says no arches where its scheme has no word for them.
SAGEKIT_API std::vector<CoverageRow> cover(const Plan& plan, const Release& published);

/// What an address has: an index's page of `project` (names and hashes), or a manifest when it ends in .json. A project
/// that the index does not have is an empty release. `schemes`: rows that names are read by before those that are
/// always there. `plan`: wheels that may be for one of its cells, and whose names do not say all that decides, are read
/// for their own record by byte ranges; one that cannot be read so is left at what its name says. Errors: those of
/// reading an index, REL015.
SAGEKIT_API Result<Release> published_at(const std::string& url, std::string_view project,
                                         const IndexSettings& settings, std::span<const NamingScheme> schemes = {},
                                         const Plan* plan = nullptr);

SAGEKIT_API std::string_view to_string(CoverageState state);
/// "sagekit.coverage/1" (docs/json.md).
SAGEKIT_API std::string coverage_json(const std::vector<CoverageRow>& rows, const Plan& plan);

}  // namespace sagekit
