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

#include <filesystem>
#include <string>
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
};

/// One row of the table no one else prints: what this wheel does on a GPU.
struct RunsOn {
  Capability capability;
  std::vector<std::string> gpus;     ///< names, from core's data
  std::string verdict;               ///< "yes", "jit", "no"
  std::vector<std::string> modules;  ///< that decide it
  std::string reason;                ///< in words
};

struct WheelReport {
  std::string path, sha256;
  bool pass = false;              ///< no finding with result fail
  std::vector<Finding> findings;  ///< all, passes included
  std::vector<RunsOn> runs_on;
};

struct VerifyOptions {
  std::string policy;  ///< "own", "others", "pypi"; "" = own for what sagekit built, others else
  std::vector<std::filesystem::path>
      interpreters;  ///< import check with these Pythons; empty = skipped with the reason
  std::map<std::string, std::string> child_environment;
  std::vector<std::string> require;  ///< families whose skipped checks fail
  bool allow_defects = false;        ///< never set by the host: a wheel with a known defect fails
  /// Where undefined symbols are looked up: installed torches and provisioned sysroots. A wheel is judged against one
  /// of exactly the version it declares; where none is here that check is skipped with the reason.
  std::vector<TorchSysroot> torches = {};
};

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

/// As verify_wheel with policy own, for a wheel that write_wheel made; the only way to a VerifiedWheel.
SAGEKIT_API Result<Verdict<VerifiedWheel>> verify_own_wheel(const std::filesystem::path& temporary,
                                                            const std::string& final_name, const Spec& spec,
                                                            const Plugin* plugin, const VerifyOptions& options,
                                                            CommandRunner& runner);

/// cli.md section 4. `all`: passes too.
SAGEKIT_API std::string verify_json(const std::vector<WheelReport>& reports, bool all);

}  // namespace sagekit
