#include "support/json.hpp"

#include <sagekit/verify.hpp>

namespace sagekit {

namespace {

std::string_view word(Severity severity) {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note: return "note";
  }
  return "error";
}

std::string_view word(FindingResult result) {
  switch (result) {
    case FindingResult::pass: return "pass";
    case FindingResult::fail: return "fail";
    case FindingResult::warn: return "warn";
    case FindingResult::skipped: return "skipped";
    case FindingResult::waived: return "waived";
  }
  return "fail";
}

Json finding_json(const Finding& finding) {
  return {{"code", finding.code},           {"severity", word(finding.severity)},
          {"result", word(finding.result)}, {"message", finding.message},
          {"where", finding.where},         {"hint", finding.hint}};
}

Json row_json(const RunsOn& row) {
  return {{"capability", to_string(row.capability)},
          {"gpus", row.gpus},
          {"verdict", row.verdict},
          {"modules", row.modules},
          {"reason", row.reason}};
}

Json report_json(const WheelReport& report, bool all) {
  Json json{{"path", report.path}, {"sha256", report.sha256}, {"verdict", report.pass ? "pass" : "fail"}};
  Json& findings = json["findings"] = Json::array();
  std::size_t skipped = 0;
  for (const auto& finding : report.findings) {
    if (all || finding.result != FindingResult::pass) findings.push_back(finding_json(finding));
    skipped += finding.result == FindingResult::skipped;
  }
  json["skipped"] = skipped;
  Json& rows = json["runs_on"] = Json::array();
  for (const auto& row : report.runs_on) rows.push_back(row_json(row));
  return json;
}

}  // namespace

std::string verify_json(const std::vector<WheelReport>& reports, bool all) {
  Json json{{"schema", "sagekit.verify/1"}};
  Json& wheels = json["wheels"] = Json::array();
  for (const auto& report : reports) wheels.push_back(report_json(report, all));
  return json_text(json);
}

}  // namespace sagekit
