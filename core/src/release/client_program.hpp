#pragma once
// gh, hf or twine: started with an argv, heard, and quoted without the secrets it was given.

#include <sagekit/publish.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

class ClientProgram {
 public:
  ClientProgram(const PublishOptions& options, CommandRunner& runner) : m_options(options), m_runner(runner) {}

  /// A command that only looks. PUB005 when the program cannot be started; a failure is a result.
  Result<CommandResult> ask(const std::vector<std::string>& argv);
  /// A command that changes something: said, remembered, and not run in a dry run. PUB006 when it fails.
  Status change(const std::vector<std::string>& argv, PublishReport& report);
  /// PUB006: what the program said at last.
  std::unexpected<Error> failed(const std::vector<std::string>& argv, const CommandResult& result) const;

 private:
  std::string without_secrets(std::string text) const;

  const PublishOptions& m_options;
  CommandRunner& m_runner;
};

/// PUB002: the first wheel that fails its judgement, or that nobody judged.
Status check_verdicts(const Release& release);
/// Ours, and of theirs what we do not have. PUB004: one name, two wheels.
Result<Release> merged(const Release& ours, const Release& theirs);
/// Manifest, checksums and statement, written into `folder`; the paths.
Result<std::vector<std::filesystem::path>> write_release_files(const Release& release,
                                                               const std::filesystem::path& folder);
std::unexpected<Error> other_file_there(const std::string& file, const std::string& where, const std::string& why);

}  // namespace sagekit
