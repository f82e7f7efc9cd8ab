#include "release/client_program.hpp"
#include "release/index_pages.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

/// A file that a release has.
struct Asset {
  std::uint64_t size = 0;
  bool whole = false;  ///< false: its upload was cut
};

class GithubRelease {
 public:
  GithubRelease(const GithubTarget& target, const PublishOptions& options, CommandRunner& runner, fs::path scratch)
      : m_target(target), m_options(options), m_program(options, runner), m_scratch(std::move(scratch)) {}

  Result<PublishReport> publish(const Release& ours) {
    if (!m_options.dry_run) TRY(look());
    Release all = ours;
    const auto manifest = m_assets.find(std::string(k_manifest_file));
    if (manifest != m_assets.end() && manifest->second.whole) {
      TRY_ASSIGN(const auto there, download(std::string(k_manifest_file)));
      TRY_ASSIGN(const auto text, read_file(there));
      TRY_ASSIGN(m_theirs, read_release(text, "the release's manifest"));
      TRY_ASSIGN(all, merged(ours, m_theirs));
    }
    say_unlisted(all);
    set_addresses(all);
    m_report.notes = release_notes(all);
    // Everything that could be refused is looked at before anything is changed.
    std::vector<const ReleasedWheel*> wanted;
    for (const auto& wheel : ours.wheels) {
      TRY_ASSIGN(const bool there, is_there(wheel));
      if (there)
        m_report.already_there.push_back(wheel.file);
      else
        wanted.push_back(&wheel);
    }
    const auto notes = m_scratch / "notes.md";
    TRY(write_file(notes, m_report.notes));
    if (!m_exists) TRY(create(notes));
    for (const auto* wheel : wanted) {
      TRY(upload(m_options.folder / wheel->path, m_assets.contains(wheel->file)));
      m_report.uploaded.push_back(wheel->file);
    }
    TRY_ASSIGN(const auto files, write_release_files(all, m_scratch));
    for (const auto& file : files) TRY(upload(file, true));
    if (m_exists) TRY(change({"edit", "--notes-file", notes.string()}));
    return std::move(m_report);
  }

 private:
  std::vector<std::string> gh(const std::vector<std::string>& words) const {
    std::vector<std::string> argv{"gh", "release", words[0], m_target.tag, "--repo", m_target.repository};
    argv.insert(argv.end(), words.begin() + 1, words.end());
    return argv;
  }
  Status change(const std::vector<std::string>& words) { return m_program.change(gh(words), m_report); }

  /// What the release has; a release that is not there has nothing.
  Status look() {
    const auto argv = gh({"view", "--json", "assets"});
    TRY_ASSIGN(const auto result, m_program.ask(argv));
    if (!result.ok() && lower(result.output).find("not found") != std::string::npos) return {};
    if (!result.ok()) return m_program.failed(argv, result);
    const Json json = parse_json(result.output);
    if (!json.is_object() || !json.contains("assets") || !json["assets"].is_array())
      return fail(ErrorKind::failed, "PUB006", "gh release view did not answer with a list of files");
    m_exists = true;
    for (const auto& asset : json["assets"]) {
      const bool sized = asset.is_object() && asset.contains("size") && asset["size"].is_number_unsigned();
      if (const auto name = text_at(asset, "name"); !name.empty())
        m_assets[name] = {sized ? asset["size"].get<std::uint64_t>() : 0, text_at(asset, "state") == "uploaded"};
    }
    return {};
  }

  Result<fs::path> download(const std::string& name) {
    const auto argv = gh({"download", "--pattern", name, "--dir", (m_scratch / "there").string(), "--clobber"});
    TRY_ASSIGN(const auto result, m_program.ask(argv));
    if (!result.ok()) return m_program.failed(argv, result);
    return m_scratch / "there" / name;
  }

  /// True: the same file; false: none, or one whose upload was cut. PUB004: another one.
  Result<bool> is_there(const ReleasedWheel& wheel) {
    const auto asset = m_assets.find(wheel.file);
    if (asset == m_assets.end() || !asset->second.whole) return false;
    const std::string where = fmt::format("{} {}", m_target.repository, m_target.tag);
    if (asset->second.size != wheel.size_bytes)
      return other_file_there(wheel.file, where,
                              fmt::format("{} bytes there, {} here", asset->second.size, wheel.size_bytes));
    const auto listed = std::ranges::find(m_theirs.wheels, wheel.file, &ReleasedWheel::file);
    if (listed != m_theirs.wheels.end()) return true;  // merged() compared the hashes
    // An earlier run was cut before its manifest: only the file itself tells.
    TRY_ASSIGN(const auto file, download(wheel.file));
    TRY_ASSIGN(const auto sha256, sha256_file(file));
    remove_quietly(file);
    if (sha256 != wheel.sha256)
      return other_file_there(wheel.file, where, fmt::format("sha256 {} there, {} here", sha256, wheel.sha256));
    return true;
  }

  Status create(const fs::path& notes) {
    std::vector<std::string> words{"create", "--title", m_target.tag, "--notes-file", notes.string()};
    if (m_target.draft) words.push_back("--draft");
    return change(words);
  }

  Status upload(const fs::path& file, bool instead) {
    std::vector<std::string> words{"upload", file.string()};
    if (instead) words.push_back("--clobber");
    return change(words);
  }

  /// Wheels of others that no manifest lists: an upload of it was cut when it was to take the place of the old one.
  void say_unlisted(const Release& all) const {
    if (!m_options.say) return;
    for (const auto& [name, asset] : m_assets)
      if (name.ends_with(".whl") && std::ranges::find(all.wheels, name, &ReleasedWheel::file) == all.wheels.end())
        m_options.say(fmt::format(
            "{} is in the release and in no manifest: publish the folder that has it once more, and it is listed",
            name));
  }

  void set_addresses(Release& release) const {
    const bool has_host = std::ranges::count(m_target.repository, '/') == 2;
    const auto base = fmt::format("https://{}{}/releases/download/{}/", has_host ? "" : "github.com/",
                                  m_target.repository, url_path(m_target.tag));
    for (auto& wheel : release.wheels) wheel.url = base + url_path(wheel.file);
  }

  const GithubTarget& m_target;
  const PublishOptions& m_options;
  ClientProgram m_program;
  fs::path m_scratch;
  PublishReport m_report;
  bool m_exists = false;
  std::map<std::string, Asset> m_assets;
  Release m_theirs;
};

}  // namespace

Result<PublishReport> publish_github(const Release& release, const GithubTarget& target, const PublishOptions& options,
                                     CommandRunner& runner) {
  TRY(check_verdicts(release));
  TRY_ASSIGN(const auto scratch, TemporaryFolder::create(fs::temp_directory_path(), "sagekit-publish"));
  return GithubRelease(target, options, runner, scratch.path()).publish(release);
}

}  // namespace sagekit
