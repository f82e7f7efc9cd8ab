#pragma once
// The one way of judging, for staged files and for finished wheels: who made it and what it claims, then all checks in
// their order.

#include "support/format.hpp"
#include "verify/artifact.hpp"
#include "verify/finding_list.hpp"
#include "verify/runs_on.hpp"

#include <sagekit/error.hpp>

#include <exception>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// How files are read for judging.
InspectOptions reading_options(const VerifyOptions& options);

/// Sets `revision` and `recorded` by the commit of its provenance, else by the spec's fingerprints of the files, else,
/// where the spec has none, by the version. Needs spec, provenance, name, members and `read`.
void choose_revision(Artifact& artifact);

/// Fills in who made it and what it claims, from its name, its record and the plugins: provenance, plugin, spec,
/// revision. `spec` set: that one, whatever the distribution's name. Names are read by `schemes` and the rows of all of
/// these. Needs name, members, wheel and `read`.
void prepare(Artifact& artifact, const std::vector<const Plugin*>& plugins, const Spec* spec,
             std::span<const NamingScheme> schemes, FindingList& findings);

/// What checks measure besides their findings.
struct CheckResults {
  std::optional<GpuGate> gate;     ///< nothing: no case was called on a GPU
  std::vector<RunsOn> runs_on;     ///< filled by the last check, from what all others found
  std::string unusable;            ///< WheelReport::unusable
  std::set<std::string> imported;  ///< WheelReport::imported
};

/// What a check may look at.
struct CheckContext {
  const Artifact& artifact;
  const VerifyOptions& options;
  CommandRunner& runner;
  CheckResults& results;
};

/// What must be there for a check to have something to look at.
struct Precondition {
  bool (*is_met)(const CheckContext&);
  std::string_view lack;  ///< why its codes are skipped; "" = nobody asks for them then
};

struct Check {
  std::vector<std::string_view> codes;  ///< all that it may say: each gets a verdict
  std::vector<Precondition> needs;
  Status (*run)(const CheckContext&, FindingList&);
};

std::span<const Check> checks();

/// Runs one check. A code of it that it says nothing about passes; without what it needs all are skipped.
Status run_check(const Check& check, const CheckContext& context, FindingList& findings);

/// Runs every check on the artifact. `path` and `sha256` go into the report.
Result<WheelReport> judge(const Artifact& artifact, FindingList findings, const VerifyOptions& options,
                          CommandRunner& runner, std::string path, std::string sha256);

/// As verify_wheel. What was read on the way goes into `read`, for who needs both; of a wheel that cannot be listed
/// nothing.
Result<WheelReport> verify_wheel_file(const std::filesystem::path& wheel, const std::vector<const Plugin*>& plugins,
                                      const VerifyOptions& options, CommandRunner& runner, FileFacts& read);

// Nothing is thrown out of core: memory that runs out while something large is judged is the machine's fault.

/// What `work` returns; INS004 (machine) when it throws.
template <class Work>
auto exceptions_as_errors(const std::filesystem::path& what, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& error) {
    return fail(ErrorKind::machine, "INS004", fmt::format("judging {} failed: {}", what.string(), error.what()),
                "free some memory, or judge it on a larger machine", what.string());
  }
}

}  // namespace sagekit
