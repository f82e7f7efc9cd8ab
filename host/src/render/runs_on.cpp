#include "render/runs_on.hpp"

#include "printable.hpp"
#include "render/table.hpp"
#include "render/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

namespace sagekit::host {

namespace {

bool runs(const RunsOn& row) { return row.verdict >= RunVerdict::part; }

/// Nobody says GeForce.
std::string short_name(std::string_view name) {
  constexpr std::string_view k_brand = "GeForce ";
  return std::string(name.starts_with(k_brand) ? name.substr(k_brand.size()) : name);
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// The reason without the row's own number: "no branch for 10.0" and "no branch for 10.3" are one reason.
std::string common_reason(const RunsOn& row) {
  const auto capability = to_string(row.capability);
  const auto digits = replaced(capability, ".", "");
  std::string text = replaced(row.reason, " for " + capability, " for it");
  text = replaced(text, "sm" + digits, "sm..");
  return replaced(text, "sm_" + digits, "sm_..");
}

/// The first names of each row, the newest GPUs first, in the order of the rows.
std::vector<std::string> best_known(const RunsOn* first, const RunsOn* end) {
  constexpr std::size_t k_most = 5;
  std::vector<std::pair<const RunsOn*, std::size_t>> chosen;
  for (std::size_t rank = 0; rank < k_most && chosen.size() < k_most; ++rank)
    for (const RunsOn* row = end; row != first && chosen.size() < k_most;)
      if ((--row)->gpus.size() > rank) chosen.emplace_back(row, rank);
  std::ranges::sort(chosen);
  std::vector<std::string> names;
  for (const auto& [row, rank] : chosen) names.push_back(short_name(row->gpus[rank]));
  return names;
}

std::string painted(const Console& console, RunVerdict verdict) {
  const std::string word(to_string(verdict));
  if (verdict == RunVerdict::yes) return console.green(word);
  if (verdict == RunVerdict::no) return console.red(word);
  return console.yellow(word);
}

/// Without those that no machine has into which the wheel could come; --all has them.
std::vector<RunsOn> rows_for_people(std::vector<RunsOn> rows) {
  std::erase_if(rows, &RunsOn::other_cpu);
  return rows;
}

}  // namespace

std::string range_words(Capability first, Capability last) {
  return first == last ? to_string(first) : to_string(first) + "-" + to_string(last);
}

std::vector<GpuRange> folded(const std::vector<RunsOn>& rows) {
  std::vector<GpuRange> ranges;
  for (std::size_t at = 0; at < rows.size();) {
    const RunsOn& first = rows[at];
    const bool plain = first.verdict == RunVerdict::yes || first.verdict == RunVerdict::jit;
    std::size_t end = at + 1;
    while (end < rows.size() && rows[end].verdict == first.verdict &&
           (plain || common_reason(rows[end]) == common_reason(first)))
      ++end;
    std::string reason = plain ? "" : end - at > 1 ? common_reason(first) : first.reason;
    ranges.push_back({first.capability, rows[end - 1].capability, first.verdict,
                      best_known(rows.data() + at, rows.data() + end), std::move(reason)});
    at = end;
  }
  return ranges;
}

std::string verdict_meaning(RunVerdict verdict) {
  if (verdict == RunVerdict::jit)
    return "no machine code for it; the driver compiles the PTX at the first call: slow once, then kept";
  if (verdict == RunVerdict::part) return "some modules have code for it, others do not: what calls those fails";
  if (verdict == RunVerdict::unknown) return "what is in the wheel does not tell";
  return "";
}

std::string driver_words(const std::vector<RunsOn>& all) {
  const auto rows = rows_for_people(all);
  const auto driver_of = [](const RunsOn& row) { return runs(row) ? std::string_view(row.driver) : ""; };
  std::map<std::string_view, std::vector<std::string>> needs;  // branches have three digits
  std::string_view system;
  for (auto first = rows.begin(); first != rows.end();) {
    // Neighbours of the whole table: a range has nothing between its ends that needs another driver, or does not run.
    const auto driver = driver_of(*first);
    const auto end = std::find_if(first, rows.end(), [&](const RunsOn& row) { return driver_of(row) != driver; });
    if (!driver.empty()) {
      needs[driver].push_back(range_words(first->capability, std::prev(end)->capability));
      if (system.empty()) system = first->driver_system == "windows" ? "Windows" : "Linux";
    }
    first = end;
  }
  std::string text;
  for (const auto& [driver, ranges] : needs)
    text += text.empty() ? fmt::format("{} {} or newer", system, driver)
                         : fmt::format("; {}: {} or newer", fmt::join(ranges, ", "), driver);
  return text;
}

std::string runs_on_words(const std::vector<RunsOn>& all) {
  const auto rows = rows_for_people(all);
  if (rows.empty()) return "";
  std::vector<std::string> words;
  for (const auto& range : folded(rows)) {
    if (range.verdict == RunVerdict::no) continue;
    words.push_back(range_words(range.first, range.last) +
                    (range.verdict == RunVerdict::yes ? "" : fmt::format(" {}", to_string(range.verdict))));
  }
  return words.empty() ? "no GPU" : fmt::format("{}", fmt::join(words, ", "));
}

std::string runs_on_text(const Console& console, const std::vector<RunsOn>& all, bool each, std::size_t width) {
  const auto rows = each ? all : rows_for_people(all);
  if (rows.empty()) return "";
  std::vector<GpuRange> ranges;
  if (each)
    for (const auto& row : rows)
      ranges.push_back({row.capability, row.capability, row.verdict, best_known(&row, &row + 1), row.reason});
  else
    ranges = folded(rows);
  Rows lines;
  std::vector<RunVerdict> verdicts;
  for (const auto& range : ranges) {
    std::string what = fmt::format("{}", fmt::join(range.gpus, ", "));
    if (!range.reason.empty()) what += (what.empty() ? "" : ": ") + printable(range.reason);
    lines.push_back({range_words(range.first, range.last), painted(console, range.verdict), what});
    if (std::ranges::count(verdicts, range.verdict) == 0) verdicts.push_back(range.verdict);
  }
  std::string text = "  runs on\n" + table(lines, "    ", width);
  for (const auto verdict : verdicts)
    if (const auto meaning = verdict_meaning(verdict); !meaning.empty())
      text += wrap(meaning, fmt::format("    {}: ", to_string(verdict)), "      ", width);
  if (const auto driver = driver_words(rows); !driver.empty())
    text += wrap("needs the NVIDIA driver for " + driver, "    ", "      ", width);
  return text;
}

}  // namespace sagekit::host
