#include "release/origin.hpp"
#include "spec/data.hpp"
#include "support/json.hpp"
#include "support/text.hpp"

#include <sagekit/release_report.hpp>

#include <map>
#include <set>

namespace sagekit {

extern const std::string_view k_report_html;  // report.html

namespace {

/// The line a user copies: pip checks the hash behind an address itself.
std::string install_line(const ReleasedWheel& wheel) {
  if (wheel.url.empty()) return "pip install ./" + wheel.file;
  return "pip install \"" + wheel.url + "#sha256=" + wheel.sha256 + "\"";
}

Json wheel_data(const ReleasedWheel& wheel, std::map<std::string, std::size_t>& reasons, Json& reason_texts) {
  const auto& origin = wheel.origin;
  const auto python = served_pythons(wheel);
  Json row{{"file", wheel.file},
           {"size", wheel.size_bytes},
           {"sha256", wheel.sha256},
           {"install", install_line(wheel)},
           {"verdict", to_string(wheel.verdict)},
           {"yanked", wheel.yanked ? Json(*wheel.yanked) : Json(nullptr)},
           {"python", python.only},
           {"python_min", python.least},
           {"torch", origin.torch},
           {"torch_min", origin.torch_min},
           {"requires_torch", origin.requires_torch},
           {"says_all", says_all(wheel)},
           {"cuda", origin.cuda},
           {"platform", origin.platform},
           {"arches", origin.arches},
           {"commit", origin.commit},
           {"edits", origin.edits}};
  Json& rows = row["runs_on"] = Json::array();
  for (const auto& one : wheel.runs_on) {
    // Many rows have one reason: it is written once.
    const auto [at, added] = reasons.emplace(one.reason, reasons.size());
    if (added) reason_texts.push_back(one.reason);
    rows.push_back({to_string(one.capability), to_string(one.verdict), at->second});
  }
  Json& findings = row["findings"] = Json::array();
  for (const auto& finding : wheel.findings)
    findings.push_back({finding.code, finding.result == FindingResult::fail ? "error" : "warning",
                        finding.where.empty() ? finding.message : finding.where + ": " + finding.message});
  return row;
}

}  // namespace

std::string report_html(const Release& release, const std::vector<TimelineSpan>& timeline) {
  std::set<Capability> capabilities;
  std::set<std::string> versions, projects;
  for (const auto& wheel : release.wheels) {
    for (const auto& row : wheel.runs_on) capabilities.insert(row.capability);
    versions.insert(wheel.version.substr(0, wheel.version.find('+')));
    projects.insert(wheel.project);
  }
  Json data{{"project", join({projects.begin(), projects.end()}, ", ")},
            {"versions", versions},
            {"source", release.source_url}};
  Json& gpus = data["gpus"] = Json::array();
  for (const auto capability : capabilities)
    gpus.push_back({{"capability", to_string(capability)}, {"names", gpu_names(capability)}});
  std::map<std::string, std::size_t> reasons;
  Json reason_texts = Json::array();
  Json& wheels = data["wheels"] = Json::array();
  for (const auto& wheel : release.wheels) wheels.push_back(wheel_data(wheel, reasons, reason_texts));
  data["reasons"] = std::move(reason_texts);
  Json& spans = data["timeline"] = Json::array();
  const auto milliseconds = [](double seconds) { return static_cast<std::uint64_t>(seconds * 1e3); };
  for (const auto& span : timeline)
    spans.push_back(
        {span.slot, milliseconds(span.begin_seconds), milliseconds(span.seconds), span.kind, span.name, span.outcome});
  // No tag can end the script element early: "<" is written so that only JSON sees it.
  const auto text = replace_all(json_line(data), "<", "\\u003c");
  constexpr std::string_view k_place = "@DATA@";
  const auto at = k_report_html.find(k_place);
  return std::string(k_report_html.substr(0, at)) + text + std::string(k_report_html.substr(at + k_place.size()));
}

}  // namespace sagekit
