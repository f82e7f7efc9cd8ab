#pragma once
// Interpreters that load what is judged, in processes of their own: its files unpacked for them, what they say, and
// whether they are fit to judge it at all.

#include "support/file.hpp"
#include "support/json.hpp"
#include "verify/artifact.hpp"

#include <sagekit/command.hpp>
#include <sagekit/verify.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// What a child said: its objects, one a line, and how it ended. Other code's output: nothing in it is believed.
struct ChildOutput {
  std::vector<Json> lines;
  CommandResult result;

  /// The last text said under a key; "" = none. Numbers and truths are no texts.
  std::string raw(std::string_view key) const;
  /// one_line() of it, for messages.
  std::string text(std::string_view key) const;
  bool truth(std::string_view key) const;
};

/// White space, line breaks included, made single blanks; at most 400 bytes.
std::string one_line(std::string_view text);

class ChildPythons {
 public:
  /// Writes the artifact's files into a temporary folder (TMPDIR of the child environment, else /tmp) by their
  /// installed_path(). Errors of kind failed are reasons to skip the check
  /// (a path that leaves the folder, a member that cannot be read, no room on the disk); others stop the command.
  static Result<ChildPythons> unpack(const Artifact& artifact, const VerifyOptions& options, CommandRunner& runner);

  /// Of a trial: where the package is installed.
  const std::filesystem::path& tree() const { return m_tree; }
  /// An empty folder beside the tree: HOME of the children, so that nothing of theirs stays.
  const std::filesystem::path& home() const { return m_home; }

  /// PYTHON -I -c (prelude and script) TREE ORDER. `environment` is added to the child's. Errors: machine (it does not
  /// start), interrupted.
  Result<ChildOutput> ask(const std::filesystem::path& python, std::string_view script, const Json& order,
                          double seconds, const std::map<std::string, std::string>& environment = {}) const;

 private:
  ChildPythons(TemporaryFolder folder, const VerifyOptions& options, CommandRunner& runner);
  TemporaryFolder m_folder;
  std::filesystem::path m_tree, m_home;
  const VerifyOptions* m_options;
  CommandRunner* m_runner;
};

/// Why an interpreter (what it said of itself) cannot load the artifact's modules; "" = it can.
std::string python_misfit(const Artifact& artifact, const ChildOutput& said);
/// Why its torch is not the one that the artifact is for, or cannot be imported; "" = it is, or none was asked for.
std::string torch_misfit(const Artifact& artifact, const ChildOutput& said);
/// Does the artifact hold this Python package or module?
bool holds_package(const Artifact& artifact, std::string_view dotted);

}  // namespace sagekit
