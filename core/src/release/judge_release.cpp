#include "support/format.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/release.hpp>

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

/// The plugin that a wheel names, else the one whose package it is.
const Plugin* plugin_of(const ReleasedWheel& wheel, const std::vector<const Plugin*>& plugins) {
  const auto named = std::ranges::find(plugins, wheel.origin.plugin, [](const Plugin* one) { return one->name(); });
  if (named != plugins.end()) return *named;
  const auto packaged = std::ranges::find(
      plugins, wheel.project, [](const Plugin* one) { return normalized_project(one->spec().metadata.name); });
  return packaged == plugins.end() ? nullptr : *packaged;
}

/// What all agree on; "" when they do not.
std::string common(const std::set<std::string>& values) { return values.size() == 1 ? *values.begin() : std::string(); }

}  // namespace

Status judge_release(Release& release, const std::filesystem::path& folder, const std::vector<const Plugin*>& plugins,
                     const VerifyOptions& options, CommandRunner& runner,
                     const std::function<void(const std::string&)>& on_wheel) {
  std::set<const Plugin*> judges;
  std::set<std::string> sources;
  for (auto& wheel : release.wheels) {
    on_wheel(wheel.file);
    TRY_ASSIGN(auto report, verify_wheel(folder / wheel.path, "", plugins, options, runner));
    wheel.verdict = report.pass ? "pass" : "fail";
    wheel.runs_on = std::move(report.runs_on);
    wheel.findings.clear();
    for (auto& finding : report.findings)
      if (finding.result == FindingResult::fail || finding.result == FindingResult::warn)
        wheel.findings.push_back(std::move(finding));
    const auto* judge = plugin_of(wheel, plugins);
    judges.insert(judge);
    sources.insert(wheel.origin.source_url.empty() && judge != nullptr ? judge->spec().source.url
                                                                       : wheel.origin.source_url);
  }
  if (judges.size() == 1 && *judges.begin() != nullptr) {
    const Plugin& judge = **judges.begin();
    release.plugin = judge.name();
    release.plugin_version = judge.spec().version;
    release.plugin_sha256 = judge.sha256();
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
