// Reports for other programs' eyes: SARIF 2.1.0 (OASIS), and the workflow commands of GitHub Actions.
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "verify/finding_list.hpp"
#include "verify/policy.hpp"

#include <sagekit/finding.hpp>
#include <sagekit/verify.hpp>
#include <sagekit/version.hpp>

#include <algorithm>
#include <map>

namespace sagekit {

namespace {

/// A path as the URI reference that SARIF wants.
std::string uri_of(std::string_view path) {
  std::string uri;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain)
      uri += c;
    else
      uri += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return path.starts_with('/') ? "file://" + uri : uri;
}

std::string_view level(Severity severity) { return to_string(severity); }

bool is_result(const Finding& finding) {
  return finding.result == FindingResult::fail || finding.result == FindingResult::warn ||
         finding.result == FindingResult::waived;
}

/// "**What.** Some text." as SARIF's plain text.
std::string plain_text(const std::string& markdown) { return replace_all(markdown, "**", ""); }

/// The rules that some finding names, with their pages; a plugin's own has none.
class RuleList {
 public:
  RuleList() {
    for (auto& page : finding_pages()) m_pages.emplace(page.code, std::move(page));
  }

  std::size_t index_of(const Finding& finding) {
    const auto [at, is_new] = m_index.emplace(finding.code, m_index.size());
    if (is_new) m_rules.push_back(rule_json(finding));
    return at->second;
  }
  Json take() { return std::move(m_rules); }

 private:
  Json rule_json(const Finding& finding) const {
    Json rule{{"id", finding.code}};
    const auto found = m_pages.find(finding.code);
    const std::string title = found == m_pages.end() ? finding.message : found->second.title;
    rule["shortDescription"] = {{"text", title}};
    if (found != m_pages.end() && !found->second.text.empty())
      rule["help"] = {{"text", plain_text(found->second.text)}, {"markdown", found->second.text}};
    rule["defaultConfiguration"] = {{"level", level(finding.severity)}};
    rule["properties"] = {{"tags", {std::string(family(finding.code))}}};
    return rule;
  }

  std::map<std::string, FindingPage, std::less<>> m_pages;
  std::map<std::string, std::size_t, std::less<>> m_index;
  Json m_rules = Json::array();
};

/// The same finding in the next wheel of that project is the same to whoever tracks it.
std::string fingerprint(const WheelReport& report, const Finding& finding) {
  const auto name = after_last(report.path, '/');
  Sha256 hash;
  for (const auto& field : {finding.code, name.substr(0, name.find('-')), finding.where}) hash.field(field);
  return hash.hex();
}

/// What every result has; the place is to come.
Json said_json(const Finding& finding, RuleList& rules) {
  Json json{{"ruleId", finding.code}, {"ruleIndex", rules.index_of(finding)}, {"level", level(finding.severity)}};
  std::string text = finding.message;
  if (!finding.where.empty()) text = finding.where + ": " + text;
  if (!finding.hint.empty()) text += "; " + finding.hint;
  json["message"] = {{"text", text}};
  return json;
}

Json result_json(const WheelReport& report, const Finding& finding, std::size_t artifact, RuleList& rules) {
  auto json = said_json(finding, rules);
  Json location;
  // Readers of SARIF that show source lines want one, though a wheel has none.
  location["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(report.path)}, {"index", artifact}}},
                                  {"region", {{"startLine", 1}}}};
  if (!finding.where.empty())
    location["logicalLocations"] = Json::array({{{"name", after_last(finding.where, '/')},
                                                 {"fullyQualifiedName", report.path + "!" + finding.where},
                                                 {"kind", "member"}}});
  json["locations"] = Json::array({location});
  json["partialFingerprints"] = {{"sagekitFinding/v1", fingerprint(report, finding)}};
  if (finding.result == FindingResult::waived)
    json["suppressions"] =
        Json::array({{{"kind", "external"}, {"status", "accepted"}, {"justification", waiver_text(finding)}}});
  return json;
}

/// A waiver that nothing needs, in its line of the policy file.
Json stale_json(const Diagnostic& waiver, RuleList& rules) {
  auto json = said_json({waiver.code, waiver.severity, FindingResult::fail, waiver.message, {}, waiver.hint}, rules);
  json["locations"] = Json::array({{{"physicalLocation",
                                     {{"artifactLocation", {{"uri", uri_of(waiver.where.file)}}},
                                      {"region", {{"startLine", std::max(waiver.where.line, 1)}}}}}}});
  return json;
}

/// A value of a workflow command; a property has two more characters that would end it.
std::string escaped(std::string text, bool property) {
  text = replace_all(std::move(text), "%", "%25");
  text = replace_all(std::move(text), "\r", "%0D");
  text = replace_all(std::move(text), "\n", "%0A");
  if (!property) return text;
  text = replace_all(std::move(text), ":", "%3A");
  return replace_all(std::move(text), ",", "%2C");
}

}  // namespace

std::string verify_sarif(const std::vector<WheelReport>& reports, const std::vector<Error>& errors,
                         const Diagnostics& stale) {
  RuleList rules;
  Json results = Json::array(), artifacts = Json::array(), notifications = Json::array();
  for (const auto& report : reports) {
    Json artifact{{"location", {{"uri", uri_of(report.path)}}}};
    if (!report.sha256.empty()) artifact["hashes"] = {{"sha-256", report.sha256}};
    for (const auto& finding : report.findings) {
      if (is_result(finding)) results.push_back(result_json(report, finding, artifacts.size(), rules));
      if (finding.result != FindingResult::skipped) continue;
      notifications.push_back(
          {{"level", "note"},
           {"message", {{"text", finding.code + " was not checked: " + finding.message}}},
           {"associatedRule", {{"id", finding.code}, {"index", rules.index_of(finding)}}},
           {"locations",
            Json::array({{{"physicalLocation", {{"artifactLocation", {{"uri", uri_of(report.path)}}}}}}})}});
    }
    artifacts.push_back(std::move(artifact));
  }
  for (const auto& error : errors)
    notifications.push_back(
        {{"level", "error"},
         {"message", {{"text", error.hint.empty() ? error.message : error.message + "; " + error.hint}}},
         {"descriptor", {{"id", error.code}}}});
  for (const auto& waiver : stale) results.push_back(stale_json(waiver, rules));
  Json driver{{"name", "sagekit"}, {"version", SAGEKIT_VERSION}, {"rules", rules.take()}};
  Json run{{"tool", {{"driver", std::move(driver)}}}};
  run["invocations"] = Json::array(
      {{{"executionSuccessful", errors.empty()}, {"toolExecutionNotifications", std::move(notifications)}}});
  run["artifacts"] = std::move(artifacts);
  run["results"] = std::move(results);
  run["columnKind"] = "unicodeCodePoints";
  const Json json{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                  {"version", "2.1.0"},
                  {"runs", Json::array({std::move(run)})}};
  return json_text(json);
}

std::string verify_annotations(const std::vector<WheelReport>& reports, bool warnings, const std::vector<Error>& errors,
                               const Diagnostics& stale) {
  // GitHub shows no more of each type for a step, and says nothing of the rest.
  constexpr std::size_t k_most = 10;
  std::string text;
  for (const auto result : {FindingResult::fail, FindingResult::warn}) {
    const std::string_view type = result == FindingResult::fail ? "error" : "warning";
    if (result == FindingResult::warn && !warnings) continue;
    std::vector<std::string> lines;
    const auto add = [&](const std::string& path, const std::string& title, std::string message,
                         const std::string& hint, int line = 0) {
      if (!hint.empty()) message += "\n" + hint;
      std::string place = path.empty() ? "" : fmt::format("file={},", escaped(path, true));
      if (line > 0) place += fmt::format("line={},", line);
      lines.push_back(fmt::format("::{} {}title={}::{}\n", type, place, escaped(title, true), escaped(message, false)));
    };
    if (result == FindingResult::fail)
      for (const auto& error : errors) add(error.where, error.code + ": not judged", error.message, error.hint);
    for (const auto& one : stale)
      if (one.severity == (result == FindingResult::fail ? Severity::error : Severity::warning))
        add(one.where.file, one.code, one.message, one.hint, one.where.line);
    for (const auto& report : reports)
      for (const auto& finding : report.findings) {
        if (finding.result != result) continue;
        add(report.path, finding.code + " in " + after_last(report.path, '/'),
            finding.where.empty() ? finding.message : finding.where + ": " + finding.message, finding.hint);
      }
    const bool all = lines.size() <= k_most;
    for (std::size_t i = 0; i < (all ? lines.size() : k_most - 1); ++i) text += lines[i];
    if (!all)
      text +=
          fmt::format("::{} title=sagekit verify::and {} more {}s: sagekit verify --all WHEEL shows all of one wheel\n",
                      type, lines.size() - k_most + 1, type);
  }
  return text;
}

}  // namespace sagekit
