#include "releasing.hpp"

#include "naming_rows.hpp"
#include "output_file.hpp"
#include "render/status_line.hpp"

#include <sagekit/nearest.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

namespace sagekit::host {

namespace fs = std::filesystem;

namespace {

/// Facts are remembered by the folder they are about, and by what names were read with.
fs::path facts_file(const Session& session, const fs::path& folder, const std::vector<NamingScheme>& schemes) {
  std::error_code error;
  auto whole = fs::canonical(folder, error).string();
  if (error || session.settings.store.empty()) return {};
  for (const auto& row : schemes) whole += fmt::format("\n{} {} {} {}", row.name, row.version, row.build, row.folder);
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a: a name, not a promise; the facts say which files they are of
  for (const unsigned char c : whole) hash = (hash ^ c) * 1099511628211U;
  return session.settings.store / "wheel-facts" / fmt::format("{:016x}.tsv", hash);
}

}  // namespace

Result<GivenRelease> read_given_release(const Session& session, const fs::path& given, ScanOptions options) {
  GivenRelease release;
  std::error_code error;
  if (fs::is_directory(given, error)) {
    release.folder = given;
    auto schemes = own_schemes(session);
    if (!schemes) return std::unexpected(schemes.error());
    options.schemes = std::move(*schemes);
    options.cache = facts_file(session, given, options.schemes);
    auto scan = scan_wheels(given, options);
    if (!scan) return std::unexpected(scan.error());
    release.scan = std::move(*scan);
    for (const auto& refused : release.scan.refused) session.console.show(refused);
  } else if (given.extension() == ".whl") {
    const auto folder = given.has_parent_path() ? given.parent_path().string() : ".";
    return fail(ErrorKind::usage, "CLI001", fmt::format("{} is a wheel: a folder of wheels is wanted", given.string()),
                fmt::format("its folder: {}", folder), given.string());
  } else {
    const auto text = file_text(given);
    if (!text) {
      const auto near = near_files(given);
      return fail(ErrorKind::usage, "FIL001",
                  fmt::format("cannot read {}: it is no folder and no file", given.string()),
                  near.empty() ? "name a folder of wheels, or a sagekit.release.json" : near);
    }
    auto manifest = read_release(*text, given.string());
    if (!manifest) return std::unexpected(manifest.error());
    release.scan.release = std::move(*manifest);
  }
  if (release.scan.release.wheels.empty() && release.scan.refused.empty())
    return fail(ErrorKind::no_match, "REL016", fmt::format("{} has no wheel", given.string()),
                "sagekit build -o DIR makes some");
  auto yanked = read_yanked(release.folder.empty() ? given.parent_path() : release.folder);
  if (!yanked) return std::unexpected(yanked.error());
  release.yanked = std::move(*yanked);
  for (auto& wheel : release.scan.release.wheels)
    if (const auto* row = yank_of(release.yanked, wheel.file)) wheel.yanked = row->reason;
  return release;
}

Status judge_given(const Session& session, GivenRelease& given, const std::stop_token& stop) {
  const auto plugins = session.plugins();
  if (!plugins) return std::unexpected(plugins.error());
  VerifyOptions options;
  options.today = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::now()));
  options.child_environment = session.settings.child_environment;
  options.torches = session.fetched_torches();
  options.fetch_flags = session.store_words("");
  options.schemes = session.schemes;
  std::vector<const Plugin*> judges;
  for (const auto& plugin : plugins->plugins) judges.push_back(&plugin);
  StatusLine status(session.console, session.settings.redraws);
  std::size_t begun = 0;
  const auto show = [&](const std::string& file) {
    status.show(fmt::format("[{}/{}] {}", ++begun, given.scan.release.wheels.size(), file));
  };
  auto judged = judge_release(given.scan.release, given.folder, judges, options, *session.runner, show, stop);
  status.clear();
  return judged;
}

}  // namespace sagekit::host
