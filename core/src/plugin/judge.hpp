#pragma once
// The call into a plugin's judge: plain values go in, findings come out, nothing else crosses.

#include <sagekit/diagnostic.hpp>
#include <sagekit/inspect.hpp>
#include <sagekit/plugin.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// One extension module as measured.
struct JudgedModule {
  std::string name;  ///< dotted
  std::string path;  ///< in the wheel
  std::vector<std::string> needed, exports, undefined;
  std::vector<GpuCode> gpu;
};

/// What abi.h's sagekit_artifact says, as values. Unknown strings are empty.
struct JudgedArtifact {
  std::string distribution, version, python, torch, cuda, platform;
  std::vector<JudgedModule> modules;
  std::vector<std::string> files;  ///< sorted
  /// The text of one file; nothing when there is none. May be empty; may be called often (texts are kept for the call).
  std::function<std::optional<std::string>(std::string_view path)> read_file;
};

struct PluginFinding {
  Severity severity = Severity::error;
  std::string code;  ///< the plugin's word, "rule-threw" or "rule-floods"
  std::string message;
  std::string where;

  bool operator==(const PluginFinding&) const = default;
};

/// What one call of a judge may report; texts are cut, findings beyond are dropped with one "rule-floods" error.
inline constexpr std::size_t k_most_findings = 1000;
inline constexpr std::size_t k_most_code_bytes = 64;
inline constexpr std::size_t k_most_text_bytes = 4096;

/// Is it a code that documentation can name: a letter, then letters, digits, `-`, `_`, `.`?
bool is_finding_code(std::string_view code);

/// Calls the judge; a plugin without one finds nothing. An exception is the error finding "rule-threw", an unknown
/// severity counts as error, control characters in texts become blanks. A crash is a crash: the conformance kit runs
/// judges in a child process to find those. Thread-safe.
std::vector<PluginFinding> run_judge(const Plugin& plugin, const JudgedArtifact& artifact);
/// The same for a bare function, as tests have it.
std::vector<PluginFinding> run_judge(sagekit_verify_fn verify, const JudgedArtifact& artifact);

}  // namespace sagekit
