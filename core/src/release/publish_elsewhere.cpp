// Hugging Face repositories and package indexes with the legacy upload API.
#include "index/url.hpp"
#include "release/client_program.hpp"
#include "release/index_pages.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/coverage.hpp>

#include <algorithm>
#include <optional>

namespace sagekit {

namespace {

/// A file of the repository, brought here; nothing when there is none of that name.
Result<std::optional<std::filesystem::path>> fetched(ClientProgram& program, const HuggingfaceTarget& target,
                                                     const std::string& name, const std::filesystem::path& scratch) {
  const std::vector<std::string> argv{"hf", "download", target.repository, name, "--local-dir", scratch.string()};
  TRY_ASSIGN(const auto result, program.ask(argv));
  const auto said = lower(result.output);
  const auto says = [&](std::string_view words) { return said.find(words) != std::string::npos; };
  // "Local entry not found" is what hf says of a hub that it does not reach: what is there is not known then.
  if (!result.ok() && (says("404 client error") || says("not found")) && !says("local entry not found"))
    return std::optional<std::filesystem::path>();
  if (!result.ok()) return program.failed(argv, result);
  return std::optional(scratch / name);
}

/// What a repository's own manifest lists; a repository without one has nothing.
Result<Release> listed_in(ClientProgram& program, const HuggingfaceTarget& target, const std::string& prefix,
                          const std::filesystem::path& scratch) {
  TRY_ASSIGN(const auto file, fetched(program, target, prefix + std::string(k_manifest_file), scratch));
  if (!file) return Release{};
  TRY_ASSIGN(const auto text, read_file(*file));
  return read_release(text, "the repository's manifest");
}

/// A wheel that no manifest lists may be there all the same: an earlier run was cut before its manifest.
Result<bool> is_there(ClientProgram& program, const HuggingfaceTarget& target, const std::string& prefix,
                      const ReleasedWheel& wheel, const std::filesystem::path& scratch) {
  TRY_ASSIGN(const auto file, fetched(program, target, prefix + wheel.file, scratch));
  if (!file) return false;
  TRY_ASSIGN(const auto sha256, sha256_file(*file));
  remove_quietly(*file);
  if (sha256 == wheel.sha256) return true;
  return other_file_there(wheel.file, target.repository, fmt::format("sha256 {} there, {} here", sha256, wheel.sha256));
}

}  // namespace

Result<PublishReport> publish_huggingface(const Release& release, const HuggingfaceTarget& target,
                                          const PublishOptions& options, CommandRunner& runner) {
  TRY(check_verdicts(release));
  TRY_ASSIGN(const auto scratch, TemporaryFolder::create(std::filesystem::temp_directory_path(), "sagekit-publish"));
  ClientProgram program(options, runner);
  const std::string prefix = target.folder.empty() ? "" : target.folder + "/";
  Release theirs;
  if (!options.dry_run) {
    TRY_ASSIGN(theirs, listed_in(program, target, prefix, scratch.path() / "there"));
  }
  TRY_ASSIGN(auto all, merged(release, theirs));
  for (auto& wheel : all.wheels)
    wheel.url =
        fmt::format("https://huggingface.co/{}/resolve/main/{}", target.repository, url_path(prefix + wheel.file));
  PublishReport report;
  report.notes = release_notes(all);
  const auto upload = [&](const std::filesystem::path& file, const std::string& message) {
    return program.change({"hf", "upload", target.repository, file.string(), prefix + file.filename().string(),
                           "--commit-message", message},
                          report);
  };
  std::vector<const ReleasedWheel*> wanted;
  for (const auto& wheel : release.wheels) {
    bool there = std::ranges::find(theirs.wheels, wheel.file, &ReleasedWheel::file) != theirs.wheels.end();
    if (!there && !options.dry_run) {
      TRY_ASSIGN(there, is_there(program, target, prefix, wheel, scratch.path() / "there"));
    }
    if (there)
      report.already_there.push_back(wheel.file);
    else
      wanted.push_back(&wheel);
  }
  for (const auto* wheel : wanted) {
    TRY(upload(options.folder / wheel->path, "Add " + wheel->file));
    report.uploaded.push_back(wheel->file);
  }
  TRY_ASSIGN(const auto files, write_release_files(all, scratch.path()));
  for (const auto& file : files) TRY(upload(file, "Update " + file.filename().string()));
  return report;
}

Result<PublishReport> publish_index(const Release& release, const IndexTarget& target, const PublishOptions& options,
                                    CommandRunner& runner) {
  TRY(check_verdicts(release));
  // An argv is in process lists and logs.
  if (const auto url = parse_url(target.upload_url); !url || url->has_user)
    return fail(
        ErrorKind::usage, "PUB007",
        url ? "the address to upload to holds a user name" : "the address to upload to is no http or https address",
        "https://host/path/ alone; user and password are TWINE_USERNAME and TWINE_PASSWORD, or ~/.pypirc");
  ClientProgram program(options, runner);
  Release theirs;
  if (!options.dry_run && !target.index_url.empty()) {
    TRY_ASSIGN(theirs, published_at(target.index_url, release.wheels.front().project, target.settings));
  }
  PublishReport report;
  std::vector<const ReleasedWheel*> wanted;
  for (const auto& wheel : release.wheels) {
    const auto there = std::ranges::find(theirs.wheels, wheel.file, &ReleasedWheel::file);
    if (there == theirs.wheels.end()) {
      wanted.push_back(&wheel);
      continue;
    }
    if (there->sha256 != wheel.sha256)
      return other_file_there(wheel.file, printable_url(target.index_url),
                              fmt::format("sha256 {} there, {} here", there->sha256, wheel.sha256));
    report.already_there.push_back(wheel.file);
  }
  for (const auto* wheel : wanted) {
    auto done = program.change({"twine", "upload", "--non-interactive", "--disable-progress-bar", "--repository-url",
                                target.upload_url, (options.folder / wheel->path).string()},
                               report);
    if (!done && target.index_url.empty() && done.error().hint.find("twice") != std::string::npos)
      done.error().hint =
          "run it again with --index-url, the address of its pages: what is there is not uploaded twice then";
    TRY(std::move(done));
    report.uploaded.push_back(wheel->file);
  }
  return report;
}

}  // namespace sagekit
