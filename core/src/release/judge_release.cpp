#include "support/format.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/release.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace sagekit {

namespace {

/// The plugin that a wheel names, which need not be here; of one that names none, the plugin whose package it is.
struct Maker {
  std::string name, version, sha256, source_url;
  auto operator<=>(const Maker&) const = default;
};

Maker maker_of(const ReleasedWheel& wheel, const std::vector<const Plugin*>& plugins) {
  const auto& origin = wheel.origin;
  const auto made_it = [&](const Plugin* one) {
    return origin.plugin.empty() ? normalized_project(one->spec().metadata.name) == wheel.project
                                 : one->name() == origin.plugin;
  };
  const auto found = std::ranges::find_if(plugins, made_it);
  if (found == plugins.end()) return {origin.plugin, origin.plugin_version, {}, origin.source_url};
  const Spec& spec = (*found)->spec();
  // What is loaded here may be another version of it than the one that made the wheel.
  const auto& version = origin.plugin_version.empty() ? spec.version : origin.plugin_version;
  return {(*found)->name(), version, version == spec.version ? (*found)->sha256() : std::string(),
          origin.source_url.empty() ? spec.source.url : origin.source_url};
}

/// What all agree on; "" when they do not.
std::string common(const std::set<std::string>& values) { return values.size() == 1 ? *values.begin() : std::string(); }

}  // namespace

Status judge_release(Release& release, const std::filesystem::path& folder, const std::vector<const Plugin*>& plugins,
                     const VerifyOptions& options, CommandRunner& runner,
                     const std::function<void(const std::string&)>& on_wheel, const std::stop_token& stop) {
  std::set<Maker> makers;
  std::set<std::string> sources;
  for (auto& wheel : release.wheels) {
    if (stop.stop_requested()) break;
    on_wheel(wheel.file);
    TRY_ASSIGN(auto report, verify_wheel(folder / wheel.path, "", plugins, options, runner));
    wheel.verdict = report.verdict();
    wheel.runs_on = std::move(report.runs_on);
    wheel.findings.clear();
    for (auto& finding : report.findings)
      if (finding.result == FindingResult::fail || finding.result == FindingResult::warn)
        wheel.findings.push_back(std::move(finding));
    auto maker = maker_of(wheel, plugins);
    sources.insert(std::exchange(maker.source_url, {}));
    makers.insert(std::move(maker));
  }
  if (stop.stop_requested())
    return fail(ErrorKind::interrupted, "BLD006", "stopped while the wheels were judged", "run it again");
  if (makers.size() == 1) {
    const Maker& maker = *makers.begin();
    release.plugin = maker.name;
    release.plugin_version = maker.version;
    release.plugin_sha256 = maker.sha256;
  }
  release.source_url = common(sources);
  return {};
}

std::string checksums_text(const Release& release) {
  std::string text;
  for (const auto& wheel : release.wheels) text += fmt::format("{}  {}\n", wheel.sha256, wheel.file);
  return text;
}

}  // namespace sagekit
