#pragma once
// The outcome of a whole `build` or `package` run, for machines.

#include <sagekit/build.hpp>
#include <sagekit/causes.hpp>
#include <sagekit/export.hpp>
#include <sagekit/package.hpp>

#include <map>
#include <string>
#include <vector>

namespace sagekit {

/// A cell whose files or wheel were judged and refused.
struct RefusedCell {
  std::string cell;
  WheelReport report;
};

/// Why steps failed, by the step's id.
using StepCauses = std::map<std::string, std::vector<FoundCause>>;

/// What the kept logs of the failed steps say (explain_log_file); a log of which nothing is known has no entry. `here`:
/// facts of this machine.
SAGEKIT_API StepCauses step_causes(const Build& build, const LogFacts& here = {});

/// "sagekit.build/1" of docs/json.md. `errors`: what ended the build before its time.
SAGEKIT_API std::string build_json(const Build& build, const std::vector<PackagedWheel>& wheels,
                                   const std::vector<RefusedCell>& refused, const StepCauses& causes = {},
                                   const std::vector<Error>& errors = {});

}  // namespace sagekit
