#include "covering.hpp"

#include "naming_rows.hpp"
#include "releasing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace sagekit::host {

namespace {

namespace fs = std::filesystem;

Result<Release> published(const Session& session, const std::string& place, const std::string& project,
                          const Plan& plan) {
  if (place.starts_with("http://") || place.starts_with("https://")) {
    IndexSettings settings;
    settings.environment = session.settings.pip_environment;
    settings.log = session.log;
    const auto schemes = own_schemes(session);
    if (!schemes) return std::unexpected(schemes.error());
    return published_at(place, project, settings, *schemes, &plan);
  }
  auto given = read_given_release(session, place);
  if (!given && given.error().code == "REL016") return Release{};
  if (!given) return std::unexpected(given.error());
  // A manifest has each wheel's verdict; of a folder without one nobody has judged them.
  const auto unjudged = [](const ReleasedWheel& wheel) { return wheel.verdict == WheelVerdict::unjudged; };
  if (!given->folder.empty() && std::ranges::any_of(given->scan.release.wheels, unjudged))
    if (const auto judged = judge_given(session, *given); !judged) return std::unexpected(judged.error());
  // The manifest's verdict is of another file than the one that is refused under its name.
  for (auto& wheel : given->scan.release.wheels)
    if (std::ranges::any_of(given->scan.refused,
                            [&](const Error& error) { return fs::path(error.where).filename() == wheel.file; }))
      wheel.verdict = WheelVerdict::fail;
  return std::move(given->scan.release);
}

}  // namespace

Result<Covered> covered_by(const Session& session, const Plugin& plugin, const Request& request,
                           const ToolchainOptions& tools, const std::string& place) {
  auto here = plan_here(plugin.spec(), request, {plugin.path().string(), plugin.sha256()}, tools, *session.runner);
  if (!here) return std::unexpected(here.error());
  const auto there = published(session, place, plugin.spec().metadata.name, here->plan);
  if (!there) return std::unexpected(there.error());
  auto rows = cover(here->plan, *there);
  return Covered{std::move(here->plan), std::move(rows)};
}

Result<Request> only_missing(const Session& session, const Plugin& plugin, const Request& request,
                             const ToolchainOptions& tools, const std::string& place) {
  auto covered = covered_by(session, plugin, request, tools, place);
  if (!covered) return std::unexpected(covered.error());
  if (covered->rows.empty()) return request;  // every cell is excluded: the plan says why
  Request rest = request;
  rest.only.emplace();
  for (const auto& row : covered->rows)
    if (row.state != CoverageState::published) rest.only->push_back(row.cell);
  session.console.say(fmt::format("{} of {} cells are not published there", rest.only->size(), covered->rows.size()));
  return rest;
}

}  // namespace sagekit::host
