#pragma once
// Judging what was built, ours or anyone's. "Skipped" is never "pass".

#include <sagekit/build.hpp>
#include <sagekit/diagnostic.hpp>
#include <sagekit/environment.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/inspect.hpp>
#include <sagekit/plugin.hpp>
#include <sagekit/spec.hpp>

#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

enum class FindingResult { pass, fail, warn, skipped, waived };

/// One check's outcome. Families: NAM ZIP INF CNT ELF LBC PYA TAB FAT VAR IMP RUN TRU (docs/findings).
struct Finding {
  std::string code;
  Severity severity = Severity::error;
  FindingResult result = FindingResult::pass;
  std::string message;
  std::string where;  ///< member of the wheel
  std::string hint;
  std::string reason = {};  ///< why it is waived; "" = it is not, or its waiver gives none
  std::string until = {};   ///< the last day of the waiver
};

/// How far a module, or a package, works on a GPU; worst first.
enum class RunVerdict {
  no,
  unknown,  ///< what decides could not be read
  part,     ///< some modules, or some of their kernels, do not work there
  jit,      ///< the driver compiles PTX at the first call
  yes,
};
SAGEKIT_API std::string_view to_string(RunVerdict verdict);  ///< "jit"
SAGEKIT_API std::optional<RunVerdict> parse_run_verdict(std::string_view text);

/// What a judgement came to.
enum class WheelVerdict { unjudged, pass, fail };
SAGEKIT_API std::string_view to_string(WheelVerdict verdict);  ///< "pass"; "" of one that nobody judged
SAGEKIT_API std::optional<WheelVerdict> parse_wheel_verdict(std::string_view text);

/// What decides a RunsOn row, for programs: its `reason` is for people.
enum class RunReason {
  untold,     ///< the row was read back from a report or a manifest, which says it in words only
  modules,    ///< what is in them, or how their cases went here
  no_branch,  ///< the package has none for the GPU
  refused,    ///< the package refuses the GPU
  defect,     ///< a known defect of its source
  unusable,   ///< WheelReport::unusable
};

/// One row of the table no one else prints: what this wheel does on a GPU.
struct RunsOn {
  Capability capability;
  std::vector<std::string> gpus;             ///< names, from core's data
  RunVerdict verdict = RunVerdict::unknown;  ///< never better than the findings allow
  std::vector<std::string> modules;          ///< that decide it
  std::string reason;                        ///< in words
  std::string driver;   ///< oldest driver that takes this code there: "580" (a branch), "528.33"; "" = not known
  std::string toolkit;  ///< CUDA that made the deciding code: "13.0"; "" = not known
  std::string driver_system = {};         ///< of `driver`: "linux" or "windows"; "" = there is none
  std::vector<std::string> failing = {};  ///< modules that do not work there, or that nobody can judge
  bool other_cpu = false;  ///< every GPU of that capability is in machines with another CPU than the wheel's
  RunReason decided_by = RunReason::untold;
};

/// What was judged, which decides what can be.
enum class ArtifactKind {
  wheel,      ///< an archive
  build,      ///< staged files of a planned name
  unpacked,   ///< a package in a folder, with its dist-info
  installed,  ///< the same, below an environment's site-packages
  folder,     ///< any other folder
};
SAGEKIT_API std::string_view to_string(ArtifactKind kind);  ///< "wheel"

struct WheelReport {
  std::string path, sha256;
  bool pass = false;  ///< no finding with result fail
  WheelVerdict verdict() const { return pass ? WheelVerdict::pass : WheelVerdict::fail; }
  std::vector<Finding> findings;  ///< all, passes included
  std::vector<RunsOn> runs_on;
  /// Why it works on no GPU, whatever its code is: "pip does not install it (INF001: ...)"; "" = nothing says so.
  std::string unusable = {};
  std::string policy;  ///< that judged it: "own", "others", "pypi", or the origin of a policy file
  ArtifactKind kind = ArtifactKind::wheel;
  std::vector<std::size_t> waivers = {};  ///< of the policy file, by number: those that this artifact needs
  std::vector<std::string> python = {}, abi = {}, platform = {};  ///< its tags, where they are known
  std::string gpu = {};  ///< on which VerifyOptions::gpu called its cases: "NVIDIA H200"; "" = none was called
  /// Packages that a trial imported as their users do; of the interpreter that came last.
  std::vector<std::string> imported = {};
};

/// An exception from a policy. It names its end, for an exception without one is a rule nobody has.
struct Waiver {
  std::string code;   ///< "ELF003", or a family: "LBC"
  std::string where;  ///< glob over the finding's place; "" = anywhere
  std::string wheel;  ///< glob over the wheel's file name; "" = any
  std::string reason;
  std::string until;  ///< the last day on which it holds, "2026-12-31"
  int line = 0;       ///< in the file, for messages; 0 = not known
  bool operator==(const Waiver&) const = default;
};

/// Error VFY001 (usage), with the nearest one, when this is not the name of a built-in policy: own, others or pypi.
SAGEKIT_API Status check_policy_name(std::string_view name);

/// What a broken rule weighs.
enum class Weight {
  error,  ///< the wheel fails
  warning,
  note,  ///< said, and passes
  off,   ///< not judged
};
SAGEKIT_API std::string_view to_string(Weight weight);  ///< "error"

/// A user's own policy: one of the built-in ones with changes.
struct PolicyFile {
  std::string origin;                    ///< the file, for messages
  std::string base;                      ///< "own", "others", "pypi"; "" = as without a file
  std::map<std::string, Weight> weight;  ///< of codes and families
  std::vector<std::string> require;      ///< families whose skipped checks fail
  std::vector<Waiver> waivers;
  Severity stale_waivers = Severity::warning;  ///< of those that nothing needs
  bool operator==(const PolicyFile&) const = default;
};

/// Strict, as parse_spec: unknown keys, codes nobody has, waivers without reason or end are errors with their place
/// (VFY010 to VFY018; docs/policies.md). Codes that are no family and three digits may be a plugin's.
SAGEKIT_API std::expected<PolicyFile, Diagnostics> parse_policy_file(std::string_view text, std::string_view origin);

struct VerifyOptions {
  std::string policy;  ///< "own", "others", "pypi"; "" = own for what sagekit built, others else
  std::optional<PolicyFile> policy_file = {};  ///< instead of `policy`
  std::string today = {};                      ///< "2026-11-21": waivers end by it; "" = none holds
  std::vector<std::filesystem::path>
      interpreters;  ///< import check with these Pythons; empty = skipped with the reason
  std::map<std::string, std::string> child_environment;
  std::vector<std::string> require;  ///< families whose skipped checks fail
  /// Ids that the build was asked to leave in: waived while its own wheel is made. A finished wheel fails by them.
  std::vector<std::string> allowed_defects = {};
  /// Where undefined symbols are looked up: installed torches and provisioned sysroots. A wheel is judged against one
  /// of exactly the version it declares; where none is here that check is skipped with the reason.
  std::vector<TorchSysroot> torches = {};
  std::string fetch_flags = {};  ///< " --store DIR" and the like: with them `toolchain fetch` brings one to `torches`
  /// Launch the spec's numeric cases on this machine's GPU, with the interpreters. Where none can be, WheelReport::gpu
  /// is empty and the findings RUN1 say why.
  bool gpu = false;
  /// Of an installed package: its imports (IMP) and its GPU cases (RUN1) alone, where it lies. All else was judged in
  /// its wheel; nothing is hashed or copied.
  bool trial = false;
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  ///< as InspectOptions::memory_bytes
  /// Checksums that the wheels must have ("<sha256>  <name>" lines) and must be listed in. "" = those beside the wheel,
  /// where there are any: SHA256SUMS, or the wheel's name and ".sha256".
  std::filesystem::path sha256_file = {};
  /// A configuration's naming rows, by which names are read beside the spec's, the built-in and the published ones.
  std::vector<NamingScheme> schemes = {};
};

/// What is wrong with these whatever the wheel: VFY001, VFY003, or FIL001 of `sha256_file` (usage).
SAGEKIT_API Status check_options(const VerifyOptions& options);

/// The installed package's files of one cell, judged. Only verification makes one, so that packaging what nobody
/// verified does not compile.
class VerifiedBuild {
 public:
  const CellBuild& build() const { return m_build; }
  const WheelReport& report() const { return m_report; }

 private:
  friend struct Verification;
  VerifiedBuild(CellBuild build, WheelReport report) : m_build(std::move(build)), m_report(std::move(report)) {}
  CellBuild m_build;
  WheelReport m_report;
};

/// A finished wheel file that was judged, still under its temporary name.
class VerifiedWheel {
 public:
  const std::filesystem::path& file() const { return m_file; }
  const std::string& name() const { return m_name; }
  const WheelReport& report() const { return m_report; }

 private:
  friend struct Verification;
  VerifiedWheel(std::filesystem::path file, std::string name, WheelReport report)
      : m_file(std::move(file)), m_name(std::move(name)), m_report(std::move(report)) {}
  std::filesystem::path m_file;
  std::string m_name;
  WheelReport m_report;
};

/// Verified, or the report that says why not.
template <class T>
using Verdict = std::expected<T, WheelReport>;

/// Judges staged files against spec, cell and the plugin's own judge.
SAGEKIT_API Result<Verdict<VerifiedBuild>> verify_build(const Spec& spec, const Plugin* plugin, const CellBuild& build,
                                                        const VerifyOptions& options, CommandRunner& runner);

/// Judges a wheel file. `final_name` = the name it will have ("" = its own). `plugins`: all loaded; the one whose
/// distribution name matches judges; without one the checks that need no spec are made and the rest says skipped.
SAGEKIT_API Result<WheelReport> verify_wheel(const std::filesystem::path& wheel, const std::string& final_name,
                                             const std::vector<const Plugin*>& plugins, const VerifyOptions& options,
                                             CommandRunner& runner);

/// As verify_wheel with policy own, for a wheel that write_package made; the only way to a VerifiedWheel.
SAGEKIT_API Result<Verdict<VerifiedWheel>> verify_own_wheel(const std::filesystem::path& temporary,
                                                            const std::string& final_name, const Spec& spec,
                                                            const Plugin* plugin, const VerifyOptions& options,
                                                            CommandRunner& runner);

/// Which packages of a folder are judged.
struct FolderChoice {
  std::vector<std::string> packages;  ///< project names, in any spelling; none = all that have native modules
};

/// Judges what lies in a folder, without an archive: a folder with one dist-info (an unpacked wheel, pip's --target), a
/// dist-info folder itself (the installed package that its RECORD lists), a site-packages (each chosen package by
/// itself), or any other folder with modules in it. The same facts and checks as verify_wheel, but for those of the
/// archive and of the file name, which are skipped. Links are not followed out of the folder. Errors: FIL001 (usage),
/// VFY004 (no_match: no such package, with the nearest), VFY005 (failed: nothing to judge), VFY008 (failed: more than
/// 500,000 files).
SAGEKIT_API Result<std::vector<WheelReport>> verify_folder(const std::filesystem::path& folder,
                                                           const FolderChoice& choice,
                                                           const std::vector<const Plugin*>& plugins,
                                                           const VerifyOptions& options, CommandRunner& runner);

/// The folders in which this Python finds installed packages, in its order. Error VFY006 (usage): it did not say.
SAGEKIT_API Result<std::vector<std::filesystem::path>> package_folders(
    const std::filesystem::path& interpreter, const std::map<std::string, std::string>& environment,
    CommandRunner& runner);

/// Waivers of the file that none of the judged artifacts needs (VFY102), each with its place in the file: a list of
/// exceptions can only shrink. Their severity is the file's `stale_waivers`.
SAGEKIT_API Diagnostics stale_waivers(const PolicyFile& file, const std::vector<WheelReport>& reports);

/// docs/json.md. `all`: passes too. `stale`: what stale_waivers found. `errors`: what could not be judged at all.
SAGEKIT_API std::string verify_json(const std::vector<WheelReport>& reports, bool all, const Diagnostics& stale = {},
                                    const std::vector<Error>& errors = {});
/// SARIF 2.1.0: a rule for each code with its page, failures and warnings as results, waived ones suppressed, checks
/// that were skipped as notifications. With `errors` the execution was not successful, and each is a notification.
/// `stale`: what stale_waivers found, as results in the policy file.
SAGEKIT_API std::string verify_sarif(const std::vector<WheelReport>& reports, const std::vector<Error>& errors = {},
                                     const Diagnostics& stale = {});
/// GitHub's workflow commands, one a line: an annotation for each of `errors`, of `stale` and each failure, then for
/// each warning. Of either at most ten, which is what GitHub shows for a step; the tenth says how many more there are.
SAGEKIT_API std::string verify_annotations(const std::vector<WheelReport>& reports, bool warnings = true,
                                           const std::vector<Error>& errors = {}, const Diagnostics& stale = {});

}  // namespace sagekit
