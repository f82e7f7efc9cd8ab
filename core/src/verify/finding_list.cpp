#include "verify/finding_list.hpp"

#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>

namespace sagekit {

namespace {

constexpr std::size_t k_most_of_a_code = 200;  // a hostile wheel breaks one rule in a million places

bool is_framing(std::string_view code) {
  const auto letters = family(code);
  return letters == "NAM" || letters == "ZIP" || letters == "INF";
}

bool matches(const Waiver& waiver, const Finding& finding, const std::string& wheel) {
  return (waiver.code == finding.code || waiver.code == family(finding.code)) &&
         (waiver.where.empty() || glob_match(waiver.where, finding.where)) &&
         (waiver.wheel.empty() || glob_match(waiver.wheel, wheel));
}

}  // namespace

void FindingList::add(Finding finding) {
  auto& group = m_groups[finding.code];
  if (++group.size <= k_most_of_a_code) return m_findings.push_back(std::move(finding));
  // One more stands for all that follow. It has no place, so that no waiver of a place excuses what nobody listed.
  if (group.size == k_most_of_a_code + 1) {
    group.rest = m_findings.size();
    finding.message = "more places than are listed";
    finding.where.clear();
    finding.hint.clear();
    return m_findings.push_back(std::move(finding));
  }
  Finding& rest = m_findings[group.rest];
  if (rest.result == FindingResult::fail || finding.result == FindingResult::pass) return;
  rest.result = finding.result;
  rest.severity = finding.severity;
}

void FindingList::weigh(std::string_view code, Weight usual, std::string message, std::string where, std::string hint) {
  const Weight weight = m_policy.weight(code, usual);
  if (weight == Weight::off) return;
  const auto [severity, result] = weight == Weight::error     ? std::pair{Severity::error, FindingResult::fail}
                                  : weight == Weight::warning ? std::pair{Severity::warning, FindingResult::warn}
                                                              : std::pair{Severity::note, FindingResult::pass};
  add({std::string(code), severity, result, std::move(message), std::move(where), std::move(hint)});
}

void FindingList::expect(std::string_view code) const {
  if (m_codes != nullptr && std::ranges::count(*m_codes, code) == 0)
    throw std::logic_error(fmt::format("{} is none of the codes of the check that says it", code));
}

bool FindingList::is_off(std::string_view code) const {
  const Rule* rule = find_rule(code);
  return rule != nullptr && m_policy.weight(code, rule->weight(policy())) == Weight::off;
}

bool FindingList::is_required(std::string_view code) const {
  return std::ranges::count(m_policy.require, family(code)) > 0;
}

void FindingList::broken(std::string_view code, std::string message, std::string where, std::string hint) {
  expect(code);
  const Rule* rule = find_rule(code);
  weigh(code, rule == nullptr ? Weight::error : rule->weight(policy()), std::move(message), std::move(where),
        std::move(hint));
}

void FindingList::done(std::string_view code, std::string message) {
  expect(code);
  if (said(code) || is_off(code)) return;
  const Rule* rule = find_rule(code);
  if (message.empty() && rule != nullptr) message = rule->meaning;
  note(code, std::move(message));
}

void FindingList::skip_rest(const std::string& reason, const std::string& hint) {
  if (m_codes == nullptr) return;
  for (const auto code : *m_codes)
    if (!said(code)) skipped(code, reason, hint);
}

void FindingList::skipped(std::string_view code, std::string reason, std::string hint) {
  expect(code);
  if (is_off(code)) return;
  const bool required = is_required(code);
  if (required) reason.insert(0, k_not_made);
  add({std::string(code),
       required ? Severity::error : Severity::note,
       required ? FindingResult::fail : FindingResult::skipped,
       std::move(reason),
       {},
       std::move(hint)});
}

void FindingList::note(std::string_view code, std::string message, std::string where) {
  expect(code);
  add({std::string(code), Severity::note, FindingResult::pass, std::move(message), std::move(where), {}});
}

void FindingList::found(std::string_view code, Severity severity, std::string message, std::string where,
                        std::string hint) {
  // Readers and plugins may say what they like, whichever check asked them.
  if (const Rule* rule = find_rule(code))
    return weigh(code, rule->weight(policy()), std::move(message), std::move(where), std::move(hint));
  if (policy() == Policy::own && severity == Severity::warning && is_framing(code)) severity = Severity::error;
  const Weight usual = severity == Severity::error     ? Weight::error
                       : severity == Severity::warning ? Weight::warning
                                                       : Weight::note;
  weigh(code, usual, std::move(message), std::move(where), std::move(hint));
}

void FindingList::waived(std::string_view code, std::string message, std::string where, std::string reason) {
  expect(code);
  add({std::string(code),
       Severity::error,
       FindingResult::waived,
       std::move(message),
       std::move(where),
       {},
       std::move(reason)});
}

void FindingList::read_problems(const Diagnostics& problems, std::string_view where) {
  for (const auto& problem : problems)
    found(problem.code, problem.severity, problem.message,
          problem.where.file.empty() ? std::string(where) : problem.where.file, problem.hint);
}

void FindingList::read_dist_info(const WheelFacts& wheel, std::string_view where) {
  read_problems(wheel.problems, where);
  for (const auto& one : wheel.unchecked) skipped(one.code, one.message, one.hint);
  if (std::ranges::any_of(wheel.problems, [](const Diagnostic& one) { return family(one.code) == "INF"; })) return;
  if (wheel.unchecked.empty())
    done("INF100");
  else
    skipped("INF100", wheel.unchecked.front().message, wheel.unchecked.front().hint);
}

void FindingList::require_all() {
  for (const auto& letters : std::set(m_policy.require.begin(), m_policy.require.end()))
    if (std::ranges::none_of(m_groups, [&](const auto& group) { return family(group.first) == letters; }))
      broken("VFY103", fmt::format("{} is required, but this artifact gives its checks nothing to look at", letters));
}

std::vector<std::size_t> FindingList::apply_waivers() {
  std::set<std::size_t> needed, ended;
  const auto& waivers = m_policy.file == nullptr ? std::vector<Waiver>() : m_policy.file->waivers;
  for (auto& finding : m_findings) {
    if (finding.result != FindingResult::fail && finding.result != FindingResult::warn) continue;
    for (std::size_t i = 0; i < waivers.size(); ++i) {
      if (!matches(waivers[i], finding, m_policy.wheel)) continue;
      needed.insert(i);
      if (!m_policy.waives) continue;
      if (m_policy.today.empty() || m_policy.today > waivers[i].until) {
        ended.insert(i);
        continue;
      }
      finding.result = FindingResult::waived;
      finding.reason = waivers[i].reason;
      finding.until = waivers[i].until;
      break;
    }
  }
  for (const auto i : ended) {
    const Waiver& waiver = waivers[i];
    const auto why = m_policy.today.empty() ? "does not hold, for today's date is not known"
                                            : fmt::format("ended on {}", waiver.until);
    broken("VFY101", fmt::format("the waiver of {} ({}) {}", waiver.code, waiver.reason, why),
           fmt::format("{}:{}", m_policy.file->origin, waiver.line),
           "mend what it excused, or give it a new end and say why");
  }
  return {needed.begin(), needed.end()};
}

WheelReport FindingList::report(std::string path, std::string sha256, std::vector<RunsOn> runs_on) && {
  require_all();
  auto needed = apply_waivers();
  std::ranges::stable_sort(m_findings, {}, [](const Finding& f) { return std::tie(f.code, f.where); });
  WheelReport report;
  report.path = std::move(path);
  report.sha256 = std::move(sha256);
  report.findings = std::move(m_findings);
  report.runs_on = std::move(runs_on);
  report.policy = m_policy.name();
  report.waivers = std::move(needed);
  report.pass = std::ranges::none_of(report.findings, [](const Finding& f) { return f.result == FindingResult::fail; });
  return report;
}

Diagnostics stale_waivers(const PolicyFile& file, const std::vector<WheelReport>& reports) {
  Diagnostics stale;
  for (std::size_t i = 0; i < file.waivers.size(); ++i) {
    const Waiver& waiver = file.waivers[i];
    if (std::ranges::any_of(reports, [&](const WheelReport& one) { return std::ranges::count(one.waivers, i) > 0; }))
      continue;
    std::string what = waiver.code;
    if (!waiver.where.empty()) what += " in " + waiver.where;
    if (!waiver.wheel.empty()) what += " of " + waiver.wheel;
    stale.push_back({file.stale_waivers,
                     "VFY102",
                     fmt::format("nothing needs the waiver of {} ({})", what, waiver.reason),
                     {file.origin, waiver.line, waiver.line > 0 ? 1 : 0, {}},
                     "remove it, so that the list of exceptions only shrinks"});
  }
  return stale;
}

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note: return "note";
  }
  return "error";
}

std::string_view to_string(FindingResult result) {
  switch (result) {
    case FindingResult::pass: return "pass";
    case FindingResult::fail: return "fail";
    case FindingResult::warn: return "warn";
    case FindingResult::skipped: return "skipped";
    case FindingResult::waived: return "waived";
  }
  return "fail";
}

std::string waiver_text(const Finding& finding) {
  if (finding.result != FindingResult::waived) return {};
  std::string text = finding.until.empty() ? "" : "until " + finding.until;
  if (!finding.reason.empty()) text += (text.empty() ? "" : ": ") + finding.reason;
  return text;
}

}  // namespace sagekit
