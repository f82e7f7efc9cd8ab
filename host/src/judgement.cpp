#include "judgement.hpp"

#include "table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace sagekit::host {

namespace {

std::string label(const Console& console, const Finding& finding) {
  switch (finding.result) {
    case FindingResult::pass: return console.green("pass");
    case FindingResult::fail: return console.red("fail");
    case FindingResult::warn: return console.yellow("warn");
    case FindingResult::skipped: return console.dim("skipped");
    case FindingResult::waived: return console.dim("waived");
  }
  return "";
}

}  // namespace

std::string judgement_text(const Console& console, const WheelReport& report, bool all) {
  std::string text;
  std::map<FindingResult, int> counts;
  for (const auto& finding : report.findings) {
    ++counts[finding.result];
    if (finding.result == FindingResult::pass && !all) continue;
    text += fmt::format("  {} {}  {}{}\n", label(console, finding), finding.code, finding.message,
                        finding.where.empty() ? "" : " (" + finding.where + ")");
    if (!finding.hint.empty()) text += fmt::format("       {}\n", finding.hint);
  }
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
  text += fmt::format("  {}: {} passed, {} failed, {} warnings, {} skipped\n",
                      report.pass ? console.green("pass") : console.red("fail"), counts[FindingResult::pass],
                      counts[FindingResult::fail], counts[FindingResult::warn], counts[FindingResult::skipped]);
  return text;
}

}  // namespace sagekit::host
