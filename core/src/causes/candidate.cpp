#include "causes/candidate.hpp"

#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace {

/// Of two that tell of one failure the one that says more leads.
int rank(const CauseCandidate& one) { return one.role() == LineRole::advice ? 4 : one.generality(); }

/// A wrapper and the words that it wraps: near each other, on either side.
bool carries(const CauseCandidate& wrapper, const CauseCandidate& content) {
  const auto& row = wrapper.row();
  if (row.carries.empty() || content.role() == LineRole::advice) return false;
  const auto &a = *wrapper.event, &b = *content.event;
  if (a.attempt != b.attempt ||
      std::max(a.where.line, b.where.line) - std::min(a.where.line, b.where.line) > row.within)
    return false;
  return contains(row.carries, content.row().code) ||
         (contains(row.carries, content.row().stage) && content.generality() < wrapper.generality());
}

bool is_one_line(const CauseCandidate& one, const CauseCandidate& other) {
  return one.event->where.line == other.event->where.line && one.row().code != other.row().code;
}

/// What a package says after it did not load, in the same start of a program.
bool is_of_its_package(const CauseCandidate& first, const CauseCandidate& then) {
  if (first.about.empty() || first.about != then.about || first.start != then.start) return false;
  const auto loads = [](const CauseCandidate& one) {
    return one.row().stage == "import" || one.row().stage == "start";
  };
  return first.role() == LineRole::cause && loads(first) && loads(then) && first.generality() <= then.generality();
}

}  // namespace

std::string package_name(std::string_view text) {
  auto name = lower(text.substr(0, text.find_first_of("=<>~![;@ ")));
  std::ranges::replace(name, '_', '-');
  return name;
}

std::string package_of(const LineEvent& event, const CauseData& data) {
  const auto named = [&](std::string_view text) {
    const std::string top(text.substr(0, text.find('.')));
    const auto distribution = data.traceback.distributions.find(top);
    return package_name(distribution == data.traceback.distributions.end() ? top : distribution->second);
  };
  if (!event.row->package.empty()) return named(event.row->package);
  for (const auto* name : {"package", "missing", "owner"})
    if (const auto found = event.groups.find(name); found != event.groups.end()) return named(found->second);
  // A module's name by itself may stand in several: its package is where the traceback ends.
  const auto frame = event.facts.find("frame"), owner = event.facts.find("frame_owner");
  if (frame != event.facts.end() && frame->second == "package" && owner != event.facts.end())
    return named(owner->second);
  const auto module = event.groups.find("module");
  return module == event.groups.end() ? std::string() : named(module->second);
}

bool explains(const CauseCandidate& first, const CauseCandidate& then) {
  if (first.dropped || first.row().code == then.row().code) return false;
  if (is_one_line(first, then)) return rank(first) <= rank(then);
  if (carries(then, first) || is_of_its_package(first, then)) return true;
  if (first.row().shape && !then.row().shape) return false;
  const auto& after = then.row().after;
  return contains(after, first.row().code) || (contains(after, first.row().stage) && first.role() == LineRole::cause);
}

bool is_told_by(const CauseCandidate& then, const CauseCandidate& first) {
  return carries(first, then) || (is_one_line(first, then) && rank(then) < rank(first));
}

}  // namespace sagekit
