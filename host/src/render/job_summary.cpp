#include "render/job_summary.hpp"

#include "printable.hpp"
#include "render/runs_on.hpp"
#include "render/text.hpp"
#include "render/wheel_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace sagekit::host {

namespace {

constexpr std::size_t k_most_bytes = 900'000;  // of 1 MiB a step; other commands of the step may write, too

/// Text inside a table's cell or a list's item: nothing of it is markup.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '\n')
      out += ' ';
    else if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else if (std::string_view("\\|*_`[]~#").find(c) != std::string_view::npos)
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

std::string row(const WheelReport& report) {
  const auto counts = counts_of(report);
  const auto gpus = runs_on_words(report.runs_on);
  const bool read = counts.pass > 0;  // a file that is no wheel has passed nothing, and says nothing of GPUs
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", report.pass ? "pass" : "**fail**", plain(report.path),
                     !gpus.empty() ? gpus
                     : read        ? "no GPU code"
                                   : "not known",
                     plain(driver_words(report.runs_on)), counts.fail, counts.warn, counts.waived);
}

std::string details(const WheelReport& report) {
  constexpr std::size_t k_most = 20;
  std::string text = fmt::format("\n#### {}\n\n", plain(report.path));
  std::size_t count = 0;
  for (const auto& finding : report.findings) {
    if (finding.result != FindingResult::fail || ++count > k_most) continue;
    text += fmt::format("- **{}** {}", plain(finding.code), plain(finding.message));
    if (!finding.where.empty()) text += fmt::format(", in {}", plain(finding.where));
    if (!finding.hint.empty()) text += fmt::format("<br>{}", plain(finding.hint));
    text += "\n";
  }
  if (count > k_most) text += fmt::format("- and {} more\n", count - k_most);
  return text;
}

}  // namespace

std::string job_summary(const std::vector<WheelReport>& reports, const std::vector<Error>& errors) {
  const auto passed = std::ranges::count(reports, true, &WheelReport::pass);
  std::string text = fmt::format("### sagekit verify: {} of {} pass{}\n\n", passed,
                                 counted(reports.size() + errors.size(), "wheel", "wheels"),
                                 errors.empty() ? "" : fmt::format(", {} could not be judged", errors.size()));
  text += "| verdict | wheel | runs on | driver | errors | warnings | waived |\n|---|---|---|---|--:|--:|--:|\n";
  std::size_t left_out = 0;
  const auto add = [&](const std::string& part) {
    if (text.size() + part.size() > k_most_bytes)
      ++left_out;
    else
      text += part;
  };
  for (const auto& error : errors)
    add(fmt::format("| **not judged** | {} | not known |  |  |  |  |\n",
                    plain(error.where.empty() ? error.message : error.where)));
  for (const auto& report : reports) add(row(report));
  for (const auto& error : errors)
    add(fmt::format("\n- **{}** {}{}\n", plain(error.code), plain(error.message),
                    error.hint.empty() ? "" : "<br>" + plain(error.hint)));
  for (const auto& report : reports)
    if (!report.pass) add(details(report));
  if (left_out > 0) text += fmt::format("\n{} more did not fit here; the log has them.\n", left_out);
  return text + "\n";
}

}  // namespace sagekit::host
