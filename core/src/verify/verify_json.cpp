#include "support/json.hpp"
#include "verify/finding_list.hpp"
#include "verify/report_json.hpp"

#include <sagekit/verify.hpp>

namespace sagekit {

namespace {

Json finding_json(const Finding& finding) {
  Json json{{"code", finding.code},
            {"severity", to_string(finding.severity)},
            {"result", to_string(finding.result)},
            {"message", finding.message},
            {"where", finding.where},
            {"hint", finding.hint}};
  if (finding.result == FindingResult::waived) json["waived"] = {{"reason", finding.reason}, {"until", finding.until}};
  return json;
}

Json row_json(const RunsOn& row) {
  return {{"capability", to_string(row.capability)},
          {"gpus", row.gpus},
          {"verdict", to_string(row.verdict)},
          {"modules", row.modules},
          {"failing_modules", row.failing},
          {"reason", row.reason},
          {"driver", row.driver},
          {"driver_system", row.driver_system},
          {"toolkit", row.toolkit}};
}

}  // namespace

Json report_json(const WheelReport& report, bool all) {
  Json json{{"path", report.path}, {"sha256", report.sha256}, {"verdict", to_string(report.verdict())}};
  json["policy"] = report.policy;
  json["kind"] = to_string(report.kind);
  json["tags"] = {{"python", report.python}, {"abi", report.abi}, {"platform", report.platform}};
  json["gpu"] = report.gpu;
  Json& findings = json["findings"] = Json::array();
  std::size_t skipped = 0;
  for (const auto& finding : report.findings) {
    if (all || finding.result != FindingResult::pass) findings.push_back(finding_json(finding));
    skipped += finding.result == FindingResult::skipped;
  }
  json["skipped"] = skipped;
  Json& rows = json["runs_on"] = Json::array();
  for (const auto& row : report.runs_on) rows.push_back(row_json(row));
  json["unusable"] = report.unusable;
  return json;
}

std::string verify_json(const std::vector<WheelReport>& reports, bool all, const Diagnostics& stale,
                        const std::vector<Error>& errors) {
  Json json{{"schema", "sagekit.verify/1"}};
  Json& wheels = json["wheels"] = Json::array();
  for (const auto& report : reports) wheels.push_back(report_json(report, all));
  Json& waivers = json["stale_waivers"] = Json::array();
  for (const auto& one : stale)
    waivers.push_back({{"code", one.code},
                       {"severity", to_string(one.severity)},
                       {"message", one.message},
                       {"file", one.where.file},
                       {"line", one.where.line}});
  Json& failures = json["errors"] = Json::array();
  for (const auto& one : errors)
    failures.push_back({{"code", one.code}, {"message", one.message}, {"where", one.where}, {"hint", one.hint}});
  return json_text(json);
}

}  // namespace sagekit
