#pragma once
// A finished wheel under another name: file name, dist-info folder, METADATA, WHEEL, RECORD and provenance together.
// Every other member is copied as it is. What would lie is refused.

#include <sagekit/command.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/naming.hpp>
#include <sagekit/plugin.hpp>
#include <sagekit/verify.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sagekit {

/// What changes. Nothing and "" = stays as it is.
struct RetagRequest {
  std::optional<std::string> build;  ///< build tag; "" takes it away
  std::optional<std::string> local;  ///< local version, without its +; "" takes it away
  std::string platform;              ///< tags with . between them; "auto" = what the symbols allow
  std::string python, abi;           ///< tags with . between them
  /// Requirements, each instead of those on the same project; "!NAME" takes those on NAME away.
  std::vector<std::string> requirements;
  std::optional<NamingScheme> naming;  ///< version and build tag as this scheme says what is known of the wheel
  std::optional<std::string> variant;  ///< label of a wheel variant (PEP 825); "auto" = made of what was measured
};

struct RetagOptions {
  std::filesystem::path output_folder;  ///< empty = beside the wheel
  std::vector<const Plugin*> plugins;   ///< that judge
  VerifyOptions verify;                 ///< its `schemes` are what old and new names are read by, too
  std::stop_token stop = {};            ///< asked before the new wheel gets its name: what was made of it goes
};

struct RetagChange {
  std::string field;  ///< "version", "build", "python", "abi", "platform", "requires_dist", "variant"
  std::string before, after;
};

struct RetaggedWheel {
  std::filesystem::path path;  ///< final
  std::uint64_t size_bytes = 0;
  bool unchanged = false;  ///< the same bytes were already there under that name
  std::vector<RetagChange> changes;
  std::vector<std::string> notes;  ///< what a variant promises beyond what it can
};

/// Writes a temporary file in the output folder, judges it, renames it without replacing: nothing half-written is ever
/// visible under a wheel's name. Name and texts are always judged; with other tags or requirements, all of `verify` is
/// run on both files, and what only the new one fails is refused.
/// Errors: RTG001 (usage) nothing changes; RTG002 the wheel is damaged or contradicts itself; RTG003 it is signed;
/// RTG004 the new name says what the wheel is not; RTG005 (usage) nothing says what the scheme would say; RTG006 the
/// new wheel fails a check that the old one passes; RTG007 (usage) no such tag, label or requirement; RTG008 the
/// symbols tell no platform tag; PKG001, PKG002; interrupted.
SAGEKIT_API Result<RetaggedWheel> retag_wheel(const std::filesystem::path& wheel, const RetagRequest& request,
                                              const RetagOptions& options, CommandRunner& runner);

/// Before any of several wheels is retagged: PKG001 for each two that are different and would get one name, with both
/// wheels' names and the schemes by which all of them have names of their own, and new ones. Nothing is left of it.
/// `copied`: a wheel of which nothing would change (RTG001) takes its name, too. One that cannot be retagged is passed
/// over: retag_wheel says why.
SAGEKIT_API std::vector<Error> check_names_apart(const std::vector<std::filesystem::path>& wheels,
                                                 const RetagRequest& request, const RetagOptions& options, bool copied,
                                                 CommandRunner& runner);

/// docs/json.md
SAGEKIT_API std::string retag_json(const std::vector<RetaggedWheel>& wheels, const std::vector<Error>& errors);

}  // namespace sagekit
