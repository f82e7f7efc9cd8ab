#pragma once
// A release brought to where people find it, through the client programs that hold the credentials: gh, hf, twine.

#include <sagekit/command.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/index.hpp>
#include <sagekit/release.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace sagekit {

struct PublishOptions {
  std::filesystem::path folder;  ///< that holds the wheels
  bool dry_run = false;          ///< run nothing: say every command that would be
  /// The client programs' whole environment. What holds a token or password in it is in no message and no file.
  std::map<std::string, std::string> environment = {};
  std::function<void(const std::string&)> say = {};  ///< what is done, a line each
  std::stop_token stop = {};
};

struct GithubTarget {
  std::string repository;  ///< [HOST/]OWNER/NAME
  std::string tag;
  bool draft = false;
};

struct HuggingfaceTarget {
  std::string repository;  ///< OWNER/NAME
  std::string folder;      ///< in it; "" = its top
};

struct IndexTarget {
  std::string upload_url;  ///< of the legacy upload API, as twine's --repository-url
  std::string index_url;   ///< whose pages say what is there; "" = not known, everything is uploaded
  IndexSettings settings;
};

struct PublishReport {
  std::vector<std::string> uploaded, already_there;  ///< wheels
  std::vector<std::vector<std::string>> commands;    ///< that changed something, or would
  std::string notes;
};

/// The tags that a release may have: "v" and its version, and a word behind "-" that is no other plugin's:
/// SageAttention 3's are v1.0.0-sage3, so that they never meet those of SageAttention 2 in one repository. Error PUB003
/// (usage).
SAGEKIT_API Status check_tag(const Release& release, const std::string& tag, const std::vector<std::string>& plugins);

/// Markdown for people: what is in it, how it was built, how it is installed.
SAGEKIT_API std::string release_notes(const Release& release);

/// Each creates what is not there or adds to what is (one platform appends to the other's wheels), leaves alone what is
/// there already, finishes what was cut, and writes manifest, checksums and statement of all wheels last. Errors:
/// PUB002 (failed) a wheel that fails its judgement; PUB004 (failed) another file of a wheel's name is there, nothing
/// was changed; PUB005 (machine) the client program is not here; PUB006 (failed) it failed: run the same again.
SAGEKIT_API Result<PublishReport> publish_github(const Release& release, const GithubTarget& target,
                                                 const PublishOptions& options, CommandRunner& runner);
SAGEKIT_API Result<PublishReport> publish_huggingface(const Release& release, const HuggingfaceTarget& target,
                                                      const PublishOptions& options, CommandRunner& runner);
SAGEKIT_API Result<PublishReport> publish_index(const Release& release, const IndexTarget& target,
                                                const PublishOptions& options, CommandRunner& runner);

/// "sagekit.publish/1" (docs/json.md).
SAGEKIT_API std::string publish_json(const std::string& target, bool dry_run, const PublishReport& report);

}  // namespace sagekit
