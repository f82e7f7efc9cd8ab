#include "verify/judgement.hpp"

#include "support/format.hpp"

#include <algorithm>
#include <tuple>

namespace sagekit {

namespace {

FindingResult result_of(Severity severity) {
  switch (severity) {
    case Severity::error: return FindingResult::fail;
    case Severity::warning: return FindingResult::warn;
    case Severity::note: return FindingResult::pass;
  }
  return FindingResult::fail;
}

bool is_framing(std::string_view code) {
  const auto letters = family(code);
  return letters == "NAM" || letters == "ZIP" || letters == "INF";
}

}  // namespace

void Judgement::add(Finding finding) {
  m_said.insert(finding.code);
  m_findings.push_back(std::move(finding));
}

void Judgement::broken(std::string_view code, std::string message, std::string where, std::string hint) {
  const Rule* rule = find_rule(code);
  const Weight weight = rule == nullptr ? Weight::error : rule->weight(m_policy);
  if (weight == Weight::off) return;
  const Severity severity = weight == Weight::error     ? Severity::error
                            : weight == Weight::warning ? Severity::warning
                                                        : Severity::note;
  add({std::string(code), severity, result_of(severity), std::move(message), std::move(where), std::move(hint)});
}

void Judgement::done(std::string_view code, std::string message) {
  if (said(code)) return;
  const Rule* rule = find_rule(code);
  if (rule != nullptr && rule->weight(m_policy) == Weight::off) return;
  if (message.empty() && rule != nullptr) message = rule->meaning;
  add({std::string(code), Severity::note, FindingResult::pass, std::move(message), {}, {}});
}

void Judgement::skipped(std::string_view code, std::string reason, std::string hint) {
  const Rule* rule = find_rule(code);
  if (rule != nullptr && rule->weight(m_policy) == Weight::off) return;
  const bool required = m_require.contains(family(code));
  if (required) reason = fmt::format("required, but could not be checked: {}", reason);
  add({std::string(code),
       required ? Severity::error : Severity::note,
       required ? FindingResult::fail : FindingResult::skipped,
       std::move(reason),
       {},
       std::move(hint)});
}

void Judgement::note(std::string_view code, std::string message, std::string where) {
  add({std::string(code), Severity::note, FindingResult::pass, std::move(message), std::move(where), {}});
}

void Judgement::read_problems(const Diagnostics& problems, std::string_view where) {
  for (const auto& problem : problems) {
    const auto place = problem.where.file.empty() ? std::string(where) : problem.where.file;
    if (find_rule(problem.code) != nullptr) {
      broken(problem.code, problem.message, place, problem.hint);
      continue;
    }
    Severity severity = problem.severity;
    if (m_policy == Policy::own && severity == Severity::warning && is_framing(problem.code))
      severity = Severity::error;
    add({problem.code, severity, result_of(severity), problem.message, place, problem.hint});
  }
}

WheelReport Judgement::report(std::string path, std::string sha256, std::vector<RunsOn> runs_on) && {
  std::ranges::stable_sort(m_findings, {}, [](const Finding& f) { return std::tie(f.code, f.where); });
  WheelReport report{std::move(path), std::move(sha256), true, std::move(m_findings), std::move(runs_on)};
  report.pass = std::ranges::none_of(report.findings, [](const Finding& f) { return f.result == FindingResult::fail; });
  return report;
}

}  // namespace sagekit
