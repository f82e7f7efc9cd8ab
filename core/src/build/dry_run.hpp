#pragma once
// What a build would do, from a look into the store: nothing is fetched, no step is run.

#include "support/file.hpp"

#include <sagekit/build.hpp>

#include <stop_token>
#include <vector>

namespace sagekit {

/// Says of each of these steps of these cells, in order, whether the store has its result. A step below one that would
/// run is said to run, too, although its input may turn out to be the same. Errors: those of a given source that is not
/// the pinned one.
Result<Build> look_into_store(const Spec& spec, const Plan& plan, const Environment& environment,
                              const BuildOptions& options, const std::vector<const Cell*>& cells,
                              const std::vector<const Step*>& steps, CommandRunner& runner, BuildObserver& observer,
                              const std::stop_token& stop);

/// The steps that these cells use, in the plan's order.
std::vector<const Step*> steps_of(const Plan& plan, const std::vector<const Cell*>& cells);

/// A folder for links to tools whose paths a flag list cannot carry; those of dead builds are removed. Below TMPDIR
/// where that is shorter than the store's path, else below /tmp: of a header that was reached by a longer name than its
/// real one GCC says the real one, which no -ffile-prefix-map has (-fcanonical-system-headers), and the module would
/// hold it.
Result<TemporaryFolder> links_folder(const BuildOptions& options);

}  // namespace sagekit
