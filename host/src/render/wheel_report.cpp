#include "render/wheel_report.hpp"

#include "printable.hpp"
#include "render/runs_on.hpp"
#include "render/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace sagekit::host {

namespace {

constexpr std::size_t k_most_places = 5;

std::string label(const Console& console, FindingResult result) {
  switch (result) {
    case FindingResult::pass: return console.green("pass");
    case FindingResult::fail: return console.red("fail");
    case FindingResult::warn: return console.yellow("warn");
    case FindingResult::skipped: return console.dim("skip");
    case FindingResult::waived: return console.dim("waived");
  }
  return "";
}

std::string verdict(const Console& console, const WheelReport& report) {
  return report.pass ? console.green("pass") : console.red("fail");
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Is a file inside damaged, so that nobody knows what it has?
bool has_damage(const WheelReport& report) {
  return std::ranges::any_of(report.findings, [](const Finding& finding) {
    return finding.result == FindingResult::fail &&
           (finding.code == "ZIP022" || finding.code == "ZIP023" || finding.code == "ZIP029");
  });
}

/// What is said in the place of a table where no module has GPU code.
std::string runs_without_code(const WheelReport& report) {
  if (!report.unusable.empty()) return "nothing: " + one_line(report.unusable);
  return has_damage(report) ? "not known: what is in it could not all be read"
                            : "no GPU code in it: what it requires (Triton, torch) decides on which GPUs it runs";
}

/// One fault in all its places.
struct Fault {
  const Finding* finding;
  std::vector<std::string> places;
};

std::vector<Fault> faults_of(const WheelReport& report, FindingResult result) {
  std::vector<Fault> faults;
  for (const auto& finding : report.findings) {
    if (finding.result != result) continue;
    const auto same = [&](const Fault& fault) {
      const Finding& other = *fault.finding;
      return std::tie(other.code, other.message, other.hint, other.reason, other.until) ==
             std::tie(finding.code, finding.message, finding.hint, finding.reason, finding.until);
    };
    auto found = std::ranges::find_if(faults, same);
    if (found == faults.end()) found = faults.insert(faults.end(), {&finding, {}});
    // What is wrong with the wheel itself needs no place.
    if (!finding.where.empty() && finding.where != base_name(report.path)) found->places.push_back(finding.where);
  }
  return faults;
}

std::string fault_text(const Console& console, const Fault& fault, std::string_view more, std::size_t width) {
  constexpr std::string_view k_indent = "    ";
  const Finding& finding = *fault.finding;
  std::string text =
      wrap(printable(finding.message),
           fmt::format("  {} {}  ", label(console, finding.result), console.bold(finding.code)), k_indent, width);
  const std::size_t shown = more.empty() ? fault.places.size() : std::min(fault.places.size(), k_most_places);
  for (std::size_t i = 0; i < shown; ++i)
    text += wrap(console.dim(one_line(fault.places[i])), fmt::format("{}in ", k_indent), k_indent, width);
  if (shown < fault.places.size())
    text += fmt::format("{}in {} more places ({} lists them)\n", k_indent, fault.places.size() - shown, more);
  if (!finding.hint.empty()) text += wrap(printable(finding.hint), "    = ", "      ", width);
  if (finding.result == FindingResult::waived)
    text += wrap(console.dim(fmt::format("waived{}: {}", finding.until.empty() ? "" : " until " + finding.until,
                                         printable(finding.reason))),
                 k_indent, k_indent, width);
  return text;
}

/// Of one result; of one code only the first faults, unless all are wanted.
std::string faults_text(const Console& console, const WheelReport& report, FindingResult result, std::string_view more,
                        std::size_t width) {
  std::map<std::string, std::size_t> seen;
  std::string text;
  for (const auto& fault : faults_of(report, result))
    if (++seen[fault.finding->code] <= k_most_places || more.empty()) text += fault_text(console, fault, more, width);
  for (const auto& [code, count] : seen)
    if (count > k_most_places && !more.empty())
      text += fmt::format("  {} {}  and {} more like this ({} lists them)\n", label(console, result),
                          console.bold(code), count - k_most_places, more);
  return text;
}

/// What could not be checked, in one line; without `more` each reason with its codes.
std::string skipped_text(const Console& console, const WheelReport& report, std::string_view more, std::size_t width) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  std::set<std::string> families;
  std::size_t count = 0;
  for (const auto& finding : report.findings) {
    if (finding.result != FindingResult::skipped) continue;
    ++count;
    families.insert(finding.code.substr(0, std::min(finding.code.find_first_of("0123456789"), finding.code.size())));
    auto found = std::ranges::find(reasons, finding.message, &std::pair<std::string, std::vector<std::string>>::first);
    if (found == reasons.end()) found = reasons.insert(reasons.end(), {finding.message, {}});
    if (found->second.empty() || found->second.back() != finding.code) found->second.push_back(finding.code);
  }
  if (count == 0) return "";
  if (!more.empty())
    return wrap(fmt::format("{} could not be made ({} says why): {}", counted(count, "check", "checks"), more,
                            fmt::join(families, " ")),
                fmt::format("  {} ", label(console, FindingResult::skipped)), "    ", width);
  std::string text;
  for (const auto& [reason, codes] : reasons)
    text += wrap(fmt::format("{}  {}", fmt::join(codes, " "), printable(reason)),
                 fmt::format("  {} ", label(console, FindingResult::skipped)), "    ", width);
  return text;
}

std::string counts_words(const WheelReport& report) {
  const auto counts = counts_of(report);
  std::string text = fmt::format("{} passed, {} failed, {}, {} skipped", counts.pass, counts.fail,
                                 counted(counts.warn, "warning", "warnings"), counts.skipped);
  if (counts.waived > 0) text += fmt::format(", {} waived", counts.waived);
  return text;
}

/// Which Pythons and systems an installer takes it for; "" where no name says so.
std::string tags_text(const WheelReport& report, std::size_t width) {
  if (report.platform.empty()) return "";
  return wrap(one_line(fmt::format("Python {} (ABI {}) on {}", fmt::join(report.python, ", "),
                                   fmt::join(report.abi, ", "), fmt::join(report.platform, ", "))),
              "  for ", "    ", width);
}

/// Each waiver once, with the wheels that it let pass.
std::string waivers_text(const Console& console, const std::vector<WheelReport>& reports, std::size_t width) {
  std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> wheels;
  for (const auto& report : reports)
    for (const auto& finding : report.findings)
      if (finding.result == FindingResult::waived)
        wheels[{finding.code, finding.until, finding.reason}].insert(report.path);
  std::string text;
  for (const auto& [waiver, paths] : wheels) {
    const auto& [code, until, reason] = waiver;
    text += wrap(fmt::format("{}{}: {} ({})", code, until.empty() ? "" : " until " + until, printable(reason),
                             counted(paths.size(), "wheel", "wheels")),
                 fmt::format("  {}  ", label(console, FindingResult::waived)), "    ", width);
  }
  return text;
}

}  // namespace

FindingCounts counts_of(const WheelReport& report) {
  FindingCounts counts;
  for (const auto& finding : report.findings) {
    switch (finding.result) {
      case FindingResult::pass: ++counts.pass; break;
      case FindingResult::fail: ++counts.fail; break;
      case FindingResult::warn: ++counts.warn; break;
      case FindingResult::skipped: ++counts.skipped; break;
      case FindingResult::waived: ++counts.waived; break;
    }
  }
  return counts;
}

std::string wheel_report_text(const Console& console, const WheelReport& report, std::string_view more,
                              std::size_t width) {
  constexpr std::ptrdiff_t k_screen = 20;
  const std::string head =
      wrap(counts_words(report) + console.dim(fmt::format(" (policy {})", one_line(report.policy))),
           fmt::format("  {}: ", verdict(console, report)), "    ", width);
  std::string text = head + tags_text(report, width) + runs_on_text(console, report.runs_on, more.empty(), width);
  // Who asks which GPU it runs on is owed an answer, too. A file that is no wheel has passed nothing and says nothing.
  if (report.runs_on.empty() && counts_of(report).pass > 0)
    text += wrap(runs_without_code(report), "  runs on  ", "    ", width);
  for (const auto result : {FindingResult::fail, FindingResult::warn, FindingResult::waived, FindingResult::pass})
    if (result != FindingResult::pass || more.empty()) text += faults_text(console, report, result, more, width);
  text += skipped_text(console, report, more, width);
  return std::ranges::count(text, '\n') > k_screen ? text + head : text;
}

std::string wheel_line(const Console& console, const WheelReport& report, std::size_t width) {
  const auto counts = counts_of(report);
  std::vector<std::string> facts;
  if (counts.fail > 0) facts.push_back(counted(counts.fail, "error", "errors"));
  if (counts.warn > 0) facts.push_back(counted(counts.warn, "warning", "warnings"));
  if (counts.waived > 0) facts.push_back(fmt::format("{} waived", counts.waived));
  if (counts.skipped > 0) facts.push_back(fmt::format("{} skipped", counts.skipped));
  if (const auto gpus = runs_on_words(report.runs_on); !gpus.empty()) facts.push_back("runs on " + gpus);
  return wrap(fmt::format("{}  {}", console.bold(one_line(report.path)),
                          console.dim(fmt::format("{}", fmt::join(facts, "; ")))),
              verdict(console, report) + "  ", "      ", width);
}

std::string total_text(const Console& console, const std::vector<WheelReport>& reports,
                       const std::vector<Error>& unjudged, std::size_t width) {
  const auto passed = static_cast<std::size_t>(std::ranges::count(reports, true, &WheelReport::pass));
  std::string text =
      fmt::format("{}: {} pass, {} fail", counted(reports.size() + unjudged.size(), "wheel", "wheels"), passed,
                  reports.size() - passed);
  text += unjudged.empty() ? "\n" : fmt::format(", {} could not be judged\n", unjudged.size());
  for (const auto& report : reports) {
    if (report.pass) continue;
    std::set<std::string> codes;
    for (const auto& finding : report.findings)
      if (finding.result == FindingResult::fail) codes.insert(finding.code);
    text += wrap(fmt::format("{}  {}", one_line(report.path), fmt::join(codes, " ")),
                 "  " + verdict(console, report) + "  ", "        ", width);
  }
  for (const auto& error : unjudged)
    text += wrap(fmt::format("{}  {}", one_line(error.where.empty() ? error.message : error.where), error.code),
                 fmt::format("  {}  ", console.red("not judged")), "        ", width);
  return text + waivers_text(console, reports, width);
}

}  // namespace sagekit::host
