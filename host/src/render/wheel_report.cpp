#include "render/wheel_report.hpp"

#include "render/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace sagekit::host {

namespace {

using enum FindingResult;

std::string label(const Console& console, FindingResult result) {
  switch (result) {
    case pass: return console.green("pass");
    case fail: return console.red("fail");
    case warn: return console.yellow("warn");
    case skipped: return console.dim("skip");
    case waived: return console.dim("waived");
  }
  return "";
}

std::string finding_text(const Console& console, const Finding& finding) {
  std::string text =
      fmt::format("  {} {}  {}", label(console, finding.result), console.bold(finding.code), finding.message);
  if (!finding.where.empty()) text += console.dim("  " + finding.where);
  text += "\n";
  if (!finding.hint.empty()) text += fmt::format("       {}\n", finding.hint);
  if (finding.result == waived)
    text += console.dim(
        fmt::format("       waived{}: {}\n", finding.until.empty() ? "" : " until " + finding.until, finding.reason));
  return text;
}

/// Of one result; of one code only the first places, unless all are wanted.
std::string findings_text(const Console& console, const WheelReport& report, FindingResult result, bool all) {
  constexpr int k_most_places = 5;
  std::map<std::string, int> places;
  std::string text;
  for (const auto& finding : report.findings)
    if (finding.result == result && (++places[finding.code] <= k_most_places || all))
      text += finding_text(console, finding);
  for (const auto& [code, count] : places)
    if (count > k_most_places && !all)
      text += fmt::format("  {} {}  in {} more places (--all lists them)\n", label(console, result), console.bold(code),
                          count - k_most_places);
  return text;
}

/// What could not be checked for one and the same reason is said once.
std::string skipped_text(const Console& console, const WheelReport& report) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const auto& finding : report.findings) {
    if (finding.result != skipped) continue;
    auto found = std::ranges::find(reasons, finding.message, &std::pair<std::string, std::vector<std::string>>::first);
    if (found == reasons.end()) found = reasons.insert(reasons.end(), {finding.message, {}});
    if (found->second.empty() || found->second.back() != finding.code) found->second.push_back(finding.code);
  }
  std::string text;
  for (const auto& [reason, codes] : reasons)
    text += fmt::format("  {} {}  {}\n", label(console, skipped), fmt::join(codes, " "), reason);
  return text;
}

std::string counted(int count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string verdict_text(const Console& console, const WheelReport& report, std::map<FindingResult, int>& counts) {
  std::string text = fmt::format("  {}: {} passed, {} failed, {}, {} skipped",
                                 report.pass ? console.green("pass") : console.red("fail"), counts[pass], counts[fail],
                                 counted(counts[warn], "warning", "warnings"), counts[skipped]);
  if (counts[waived] > 0) text += fmt::format(", {} waived", counts[waived]);
  text += console.dim(fmt::format(" (policy {})", report.policy));
  return text + "\n";
}

}  // namespace

std::string wheel_report_text(const Console& console, const WheelReport& report, bool all) {
  std::string text;
  std::map<FindingResult, int> counts;
  for (const auto& finding : report.findings) ++counts[finding.result];
  for (const auto result : {fail, warn, waived, pass}) {
    if (result == pass && !all) continue;
    text += findings_text(console, report, result, all);
  }
  text += skipped_text(console, report);
  if (!report.runs_on.empty()) {
    Rows rows{{"runs on", "", "because"}};
    for (const auto& row : report.runs_on)
      rows.push_back({to_string(row.capability),
                      row.verdict == "yes"   ? console.green("yes")
                      : row.verdict == "jit" ? console.yellow("jit")
                                             : console.dim("no"),
                      row.reason});
    text += table(rows);
  }
  return text + verdict_text(console, report, counts);
}

}  // namespace sagekit::host
