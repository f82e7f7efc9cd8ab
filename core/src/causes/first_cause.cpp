// The first cause is the earliest line that nothing else explains, in the last attempt. Warnings count only when
// something failed and nothing else is known; wrappers never do.
#include "causes/first_cause.hpp"

#include "causes/candidate.hpp"
#include "causes/conditions.hpp"
#include "causes/installing.hpp"
#include "spec/data.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <ranges>
#include <set>

namespace sagekit {

namespace {

constexpr std::size_t k_causes = 8, k_consequences = 12;
constexpr std::size_t k_short_end = 4,
                      k_short_log = 12;  // lines behind a warning that was pasted by itself, and of all

/// What a log's lines know by themselves, completed: a GPU's name tells its capability, and sm_120 where none is named;
/// torch's version tells its Triton.
LogFacts completed(LogFacts facts) {
  if (const auto gpu = facts.find("gpu"); gpu != facts.end() && !facts.contains("capability"))
    if (const auto capability = find_gpu(gpu->second)) facts["capability"] = to_string(*capability);
  if (const auto sm = facts.find("sm"); sm != facts.end() && !facts.contains("capability"))
    if (const auto capability = capability_of_sm(sm->second); !capability.empty()) facts["capability"] = capability;
  if (const auto cuda = facts.find("torch_local"); cuda != facts.end() && !facts.contains("cuda"))
    if (auto version = parse_cuda_version(cuda->second)) facts["cuda"] = std::move(*version);
  if (const auto torch = facts.find("torch"); torch != facts.end() && !facts.contains("right_triton"))
    if (const auto asked = triton_of_torch(torch->second.substr(0, torch->second.find('+'))); !asked.empty())
      facts["right_triton"] = "triton" + asked;
  return facts;
}

void add_missing(LogFacts& facts, const LogFacts& more) {
  for (const auto& [name, value] : more) facts.try_emplace(name, value);
}

/// What the log says near a line, and elsewhere. Its word for its own system wins over hints, wherever they stand.
LogFacts said_by_log(LogFacts near, const LogFacts& elsewhere) {
  add_missing(near, elsewhere);
  if (auto own = near.extract("own_os"); !own.empty()) near["os"] = std::move(own.mapped());
  return near;
}

/// With what the log says elsewhere. The GPU that it names is the one at hand: numbers may be a compiler's flags, or of
/// a module that serves several GPUs.
LogFacts with_said(LogFacts known, const LogFacts& said) {
  if (const auto gpu = said.find("gpu"); gpu != said.end()) known.insert(*gpu);
  known = completed(std::move(known));
  add_missing(known, said);
  return completed(std::move(known));
}

/// {means}: what the name or number that was found says.
void add_meaning(const CauseRow& row, LogFacts& known) {
  const auto found = known.find(row.means_of);
  if (row.means.empty() || found == known.end()) return;
  auto means = row.means.find(found->second);
  if (means == row.means.end()) means = row.means.find("else");
  if (means != row.means.end()) known["means"] = filled(means->second, known);
}

class CauseRanking {
 public:
  CauseRanking(const LogScan& scan, const LogFacts& here)
      : m_scan(scan), m_here(here), m_installing(scan.data().pip_values) {}

  Explanation make() {
    collect();
    drop_what_was_survived();
    prefer_the_special();
    explain_each_other();
    promote_advice();
    attach_followers();
    return result();
  }

 private:
  /// Goes through the log: what stands before a success is done with.
  void collect() {
    std::set<std::string> failed;  // packages
    std::size_t exceptions = 0;    // since the last attempt or success
    for (const auto& event : m_scan.events()) {
      const auto role = event.role;
      if (event.groups.contains("command")) m_installing.start();  // it begins, or is done
      if (role == LineRole::context) {
        m_installing.take(event.groups);
        tell_what_is_installed();
        continue;
      }
      if (role == LineRole::success) {
        if (clears(event, failed, exceptions)) {
          clear(event);
          failed.clear();
        }
        exceptions = 0;
        continue;
      }
      if (role == LineRole::attempt) {
        exceptions = 0;
        if (event.row->stage.empty()) ++m_start;
      }
      if (role == LineRole::failure) ++exceptions;
      if (role == LineRole::failure || role == LineRole::cause || role == LineRole::consequence)
        m_last_failure = event.where.line;
      for (const auto* name : {"package", "module"})
        if (const auto found = event.groups.find(name); found != event.groups.end())
          failed.insert(package_name(found->second));
      if (may_explain(role))
        add_candidate(event);
      else if (role != LineRole::attempt)
        m_others.push_back(&event);
    }
  }

  void add_candidate(const LineEvent& event) {
    LogFacts known = m_here;
    add_missing(known, event.groups);
    known = with_said(std::move(known), said_by_log(event.facts, m_scan.facts()));
    add_meaning(*event.row, known);
    const auto held = all_hold(event.row->when, known);
    if (held == Holds::no) return;
    m_candidates.push_back({.event = &event,
                            .known = std::move(known),
                            .about = package_of(event, m_scan.data()),
                            .start = m_start,
                            .sure = held == Holds::yes,
                            .signatures = event.row->signatures,
                            .followers = {}});
    tell_what_is_installed();
  }

  /// To those that do not know it yet: pip names what failed before it and behind.
  void tell_what_is_installed() {
    const auto what = m_installing.what();
    if (what.empty()) return;
    for (auto& one : m_candidates | std::views::reverse) {
      if (one.start != m_start) return;
      one.known.try_emplace("installing", what);
    }
  }

  bool clears(const LineEvent& success, const std::set<std::string>& failed, std::size_t exceptions) const {
    // A runner that says "done" after each prompt, failed or not.
    if (success.row->near.empty() && success.row->wraps && exceptions > 0) return false;
    const auto what = success.groups.find("what");
    if (failed.empty() || what == success.groups.end()) return true;
    const auto names = lower(replace_all(what->second, "_", "-"));
    return std::ranges::any_of(failed, [&](const auto& name) { return names.find(name) != std::string::npos; });
  }

  /// A success clears causes, those of its stage when it has one: a program that came up says nothing of a plugin that
  /// did not load; it could do without what it did not fetch. Warnings stay, as what may explain a failure still to
  /// come.
  void clear(const LineEvent& success) {
    std::set<std::size_t> silent_lines;
    for (auto& candidate : m_candidates) {
      if (candidate.role() == LineRole::silent) silent_lines.insert(candidate.event->where.line);
      if (candidate.role() == LineRole::advice) candidate.cleared = true;
    }
    const auto& stage = success.row->stage;
    std::erase_if(m_candidates, [&](const CauseCandidate& one) {
      return !one.cleared && !silent_lines.contains(one.event->where.line) &&
             (stage.empty() || stage == one.row().stage || one.row().last > 0 ||
              (stage == "start" && one.row().stage == "fetch"));
    });
    if (stage.empty()) std::erase_if(m_others, [](const LineEvent* one) { return one->row->role != LineRole::noise; });
    m_last_success = success.where.line;
    m_last_failure = 0;
  }

  /// A last resort counts near the end, or near what counts behind it: what a program went on after did not stop it.
  void drop_what_was_survived() {
    auto behind = m_scan.lines();
    for (auto& one : m_candidates | std::views::reverse) {
      if (one.role() == LineRole::advice) continue;
      const auto line = one.event->where.line;
      const auto reach = one.row().last;
      one.dropped = reach > 0 && line + reach < behind;
      if (!one.dropped) behind = std::min(behind, line);
    }
  }

  /// On one line the special row wins over the general one; a wrapper's line is its content's.
  void prefer_the_special() {
    for (auto& one : m_candidates)
      for (auto& other : m_candidates) {
        if (&one == &other || one.dropped || other.dropped || one.event->where.line != other.event->where.line)
          continue;
        if (one.row().wraps && !other.row().wraps) {
          one.dropped = true;
          other.signatures.insert(other.signatures.end(), one.row().signatures.begin(), one.row().signatures.end());
        } else if (one.generality() > other.generality()) {
          one.dropped = true;
        } else if (&one > &other && one.row().fallback && other.row().fallback) {
          one.dropped = true;  // two general rows of one line: the first says it
        } else if (&one > &other && one.row().code == other.row().code) {
          one.dropped = true;
        }
      }
  }

  /// One follows from the other, and so does all that was thought to follow from it itself.
  void hang(std::size_t what, std::size_t by) {
    by = m_candidates[by].free() ? by : m_candidates[by].explained_by;
    if (by == what) return;
    for (auto& other : m_candidates)
      if (other.explained_by == what) other.explained_by = by;
    m_candidates[what].explained_by = by;
  }

  /// The same cause, said as a warning before: one cause with two names.
  void merge(std::size_t warning, std::size_t into) {
    auto &first = m_candidates[warning], &one = m_candidates[into];
    for (const auto& id : first.signatures)
      if (!contains(one.signatures, id)) one.signatures.push_back(id);
    first.dropped = true;
    for (auto& other : m_candidates)
      if (other.explained_by == warning) other.explained_by = into;
    one.explained_by = k_by_nothing;
  }

  void explain_each_other() {
    for (std::size_t i = 0; i < m_candidates.size(); ++i) {
      auto& one = m_candidates[i];
      for (std::size_t k = 0; k < i && !one.dropped; ++k) {
        const auto& first = m_candidates[k];
        if (first.dropped) continue;
        if (contains(one.row().with, first.row().code))
          merge(k, i);
        else if (first.row().code == one.row().code && first.event->attempt == one.event->attempt)
          one.dropped = true;  // the same again
        else if (one.free() && explains(first, one))
          hang(i, k);
      }
      // What is told before its reason.
      for (std::size_t k = 0; k < i && !one.dropped; ++k)
        if (m_candidates[k].free() && is_told_by(one, m_candidates[k])) hang(k, i);
    }
  }

  LogEnding ending() const {
    const auto failed = std::max(m_last_failure, m_scan.last_likely() > m_last_success ? m_scan.last_likely() : 0);
    if (failed > 0) return LogEnding::failed;
    return m_last_success > 0 ? LogEnding::well : LogEnding::unknown;
  }

  /// A warning is the cause only of something.
  void promote_advice() {
    const auto end = ending();
    for (std::size_t i = 0; i < m_candidates.size(); ++i) {
      auto& one = m_candidates[i];
      if (one.role() != LineRole::advice) continue;
      const bool alone = end == LogEnding::unknown && m_scan.lines() <= one.event->where.line + k_short_end;
      const bool explains = std::ranges::any_of(
          m_candidates, [&](const auto& other) { return !other.dropped && other.explained_by == i; });
      if (!explains && (one.cleared || (end != LogEnding::failed && !alone))) one.dropped = true;
    }
  }

  int weight(const CauseCandidate& one) const {
    return one.role() == LineRole::advice   ? 4
           : one.generality() > 0           ? 1 + one.generality()
           : one.role() == LineRole::silent ? 1
                                            : 0;
  }

  std::vector<std::size_t> order() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < m_candidates.size(); ++i)
      if (m_candidates[i].free()) order.push_back(i);
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      const auto &one = m_candidates[a], &other = m_candidates[b];
      const bool advice = one.role() == LineRole::advice, other_advice = other.role() == LineRole::advice;
      if (advice != other_advice) return other_advice;
      if (one.event->attempt != other.event->attempt) return one.event->attempt > other.event->attempt;
      if (weight(one) != weight(other)) return weight(one) < weight(other);
      return one.event->where.line < other.event->where.line;
    });
    return order;
  }

  void attach_followers() {
    const auto owner_of = [&](std::size_t line) -> CauseCandidate* {
      // pip says that something failed before it shows what.
      CauseCandidate* owner = nullptr;
      for (auto& one : m_candidates)
        if (one.free() && one.role() != LineRole::advice && (owner == nullptr || one.event->where.line <= line))
          owner = &one;
      return owner;
    };
    for (auto& one : m_candidates)
      if (!one.dropped && !one.free()) m_candidates[one.explained_by].followers.push_back(one.event);
    for (const auto* other : m_others) {
      if (other->row->role == LineRole::noise || other->row->role == LineRole::failure) continue;
      if (auto* owner = owner_of(other->where.line)) owner->followers.push_back(other);
    }
    for (auto& one : m_candidates)
      std::ranges::stable_sort(one.followers, {}, [](const LineEvent* event) { return event->where.line; });
  }

  static CauseConsequence consequence(const LineEvent& event) {
    return {event.row->code, filled(event.row->title, event.groups), event.where};
  }

  FoundCause found(const CauseCandidate& one) const {
    const auto& row = one.row();
    FoundCause cause{.code = row.code,
                     .signatures = one.signatures,
                     .title = filled(row.title, one.known),
                     .stage = row.stage,
                     .where = one.event->where,
                     .cause = filled(row.cause, one.known),
                     .is_not = filled(row.is_not, one.known),
                     .follows_from = {},
                     .fix = {},
                     .confidence = row.confidence};
    if (!one.sure || one.role() == LineRole::advice) cause.confidence = cause.confidence == "high" ? "medium" : "low";
    if (row.fallback) cause.confidence = "low";
    std::set<std::string> codes;
    for (const auto* event : one.followers)
      if (cause.follows_from.size() < k_consequences && codes.insert(event->row->code).second)
        cause.follows_from.push_back(consequence(*event));
    for (const auto& fix : row.fix)
      if (all_hold(fix.conditions, one.known) != Holds::no)
        cause.fix.push_back({for_that_python(filled_command(fix.command, one.known), one.known),
                             filled(fix.why, one.known), mark_of(fix, one.known, m_scan.data())});
    return cause;
  }

  Explanation result() const {
    Explanation explanation;
    std::set<std::string> codes;
    const auto best = order();
    for (const auto i : best) {
      const auto& row = m_candidates[i].row();
      if (row.last > 0 && !explanation.causes.empty()) continue;  // beside what is known it says nothing
      if (explanation.causes.size() < k_causes && codes.insert(row.code).second)
        explanation.causes.push_back(found(m_candidates[i]));
    }
    codes.clear();
    for (const auto* event : m_others)
      if (event->row->role != LineRole::failure && codes.insert(event->row->code).second)
        explanation.seen.push_back(consequence(*event));
    explanation.facts = best.empty() ? LogFacts() : m_candidates[best.front()].known;
    if (best.empty()) {
      explanation.facts = with_said(m_here, said_by_log({}, m_scan.facts()));
    }
    explanation.ending = ending();
    if (explanation.causes.empty() && explanation.ending != LogEnding::well) explanation.likeliest = m_scan.likeliest();
    explanation.lines = m_scan.lines();
    return explanation;
  }

  const LogScan& m_scan;
  const LogFacts& m_here;
  std::vector<CauseCandidate> m_candidates;  ///< in the order of the log
  std::vector<const LineEvent*> m_others;
  Installing m_installing;
  std::size_t m_start = 0;  ///< how often a program or an installer was started
  std::size_t m_last_failure = 0, m_last_success = 0;
};

}  // namespace

Explanation first_cause(const LogScan& scan, const LogFacts& here) { return CauseRanking(scan, here).make(); }

}  // namespace sagekit
