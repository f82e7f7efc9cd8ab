#include "spec/data.hpp"
#include "support/enum_words.hpp"
#include "verify/finding_list.hpp"
#include "verify/report_json.hpp"

#include <array>

namespace sagekit {

namespace {

template <class Value>
Value known(const std::optional<Value>& value) {
  if (!value) throw Json::other_error::create(501, "unknown word", nullptr);
  return *value;
}

std::string required(const Json& json, const char* key) { return json.at(key).get<std::string>(); }
std::vector<std::string> required_list(const Json& json, const char* key) {
  return json.at(key).get<std::vector<std::string>>();
}

Finding read_finding(const Json& json) {
  static constexpr std::array k_severities{Severity::error, Severity::warning, Severity::note};
  static constexpr std::array k_results{FindingResult::pass, FindingResult::fail, FindingResult::warn,
                                        FindingResult::skipped, FindingResult::waived};
  Finding finding;
  finding.code = required(json, "code");
  finding.severity = known(from_word(required(json, "severity"), k_severities));
  finding.result = known(from_word(required(json, "result"), k_results));
  finding.message = required(json, "message");
  finding.where = required(json, "where");
  finding.hint = required(json, "hint");
  if (finding.result == FindingResult::waived) {
    finding.reason = required(json.at("waived"), "reason");
    finding.until = required(json.at("waived"), "until");
  }
  return finding;
}

RunsOn read_row(const Json& json) {
  const auto capability = parse_capability(required(json, "capability"));
  if (!capability) throw Json::other_error::create(501, capability.error().message, nullptr);
  RunsOn row;
  row.capability = *capability;
  row.gpus = required_list(json, "gpus");
  row.other_cpu = row.gpus.empty() && !gpu_names(row.capability).empty();
  row.verdict = known(parse_run_verdict(required(json, "verdict")));
  row.modules = required_list(json, "modules");
  row.failing = required_list(json, "failing_modules");
  row.reason = required(json, "reason");
  row.driver = required(json, "driver");
  row.driver_system = required(json, "driver_system");
  row.toolkit = required(json, "toolkit");
  return row;
}

}  // namespace

std::optional<WheelReport> read_report(const Json& json) {
  static constexpr std::array k_kinds{ArtifactKind::wheel, ArtifactKind::build, ArtifactKind::unpacked,
                                      ArtifactKind::installed, ArtifactKind::folder};
  try {
    WheelReport report;
    report.path = required(json, "path");
    report.sha256 = required(json, "sha256");
    report.pass = parse_wheel_verdict(required(json, "verdict")) == WheelVerdict::pass;
    report.policy = required(json, "policy");
    report.kind = known(from_word(required(json, "kind"), k_kinds));
    const Json& tags = json.at("tags");
    report.python = required_list(tags, "python");
    report.abi = required_list(tags, "abi");
    report.platform = required_list(tags, "platform");
    report.gpu = required(json, "gpu");
    for (const auto& finding : json.at("findings")) report.findings.push_back(read_finding(finding));
    for (const auto& row : json.at("runs_on")) report.runs_on.push_back(read_row(row));
    report.unusable = required(json, "unusable");
    return report;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace sagekit
