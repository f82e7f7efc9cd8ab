#include "release/arch_match.hpp"
#include "support/format.hpp"
#include "support/json.hpp"

#include <sagekit/coverage.hpp>
#include <sagekit/naming.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace sagekit {

namespace {

/// Whole commits, or one and the first digits of it.
bool same_commit(const std::string& one, const std::string& other) {
  constexpr std::size_t k_least_digits = 7;
  return std::min(one.size(), other.size()) >= k_least_digits && (one.starts_with(other) || other.starts_with(one));
}

std::string other_code(const ReleasedWheel& wheel, const ArchAnswer& arches) {
  return fmt::format("{} has code for {}, the plan's for {}", wheel.file, arches.has, arches.wanted);
}

CoverageRow judge_cover(const Cell& cell, const Plan& plan, const ReleasedWheel& wheel) {
  CoverageRow row{cell.id, cell.wheel, CoverageState::published, wheel.file, {}};
  // Arches that nobody but the planned name says are the plan's, in its words: {sms} never says PTX. A scheme without a
  // word for them says nothing.
  const bool said_by_plan = wheel.file == cell.wheel && wheel.origin.cell.empty() && cell.name_says_arches;
  if (wheel.verdict == WheelVerdict::fail) {
    row.state = CoverageState::failing;
    row.why = fmt::format("{} fails its judgement", wheel.file);
  } else if (wheel.origin.commit.empty() && wheel.file != cell.wheel) {
    row.state = CoverageState::stale;
    row.why = fmt::format("{} does not say which source it is from", wheel.file);
  } else if (!wheel.origin.commit.empty() && !same_commit(wheel.origin.commit, plan.commit)) {
    row.state = CoverageState::stale;
    row.why = fmt::format("{} is from source {}, the plan's is {}", wheel.file, wheel.origin.commit.substr(0, 12),
                          plan.commit.substr(0, 12));
  } else if (const auto arches = compare_arches(wheel.origin, cell); arches.match != ArchMatch::same && !said_by_plan) {
    row.state = CoverageState::stale;
    row.why =
        arches.match == ArchMatch::other
            ? other_code(wheel, arches)
            : fmt::format("nothing that could be read of {} says for which GPUs it has code; the plan's is for {}",
                          wheel.file, arches.wanted);
  }
  return row;
}

}  // namespace

std::string_view to_string(CoverageState state) {
  switch (state) {
    case CoverageState::published: return "published";
    case CoverageState::missing: return "missing";
    case CoverageState::stale: return "stale";
    case CoverageState::failing: return "failing";
  }
  return "";
}

std::vector<CoverageRow> cover(const Plan& plan, const Release& published) {
  std::vector<CoverageRow> rows;
  for (const auto& cell : plan.cells) {
    CoverageRow best{cell.id, cell.wheel, CoverageState::missing, {}, "no wheel for it is published"};
    for (const auto& wheel : published.wheels) {
      const bool named = wheel.file == cell.wheel;
      if (!named && !is_for(wheel, cell)) continue;
      if (wheel.yanked) {  // what installers leave alone is published to nobody
        if (best.state == CoverageState::missing) best.why = wheel.file + " was yanked";
        continue;
      }
      if (const auto arches = compare_arches(wheel.origin, cell); !named && arches.match == ArchMatch::other) {
        if (best.state == CoverageState::missing) best.why = other_code(wheel, arches);
        continue;
      }
      auto row = judge_cover(cell, plan, wheel);
      const bool better = best.state == CoverageState::missing || row.state == CoverageState::published;
      if (better && best.state != CoverageState::published) best = std::move(row);
    }
    rows.push_back(std::move(best));
  }
  return rows;
}

std::string coverage_json(const std::vector<CoverageRow>& rows, const Plan& plan) {
  Json json{{"schema", "sagekit.coverage/1"}, {"plugin", plan.plugin_name}, {"commit", plan.commit}};
  std::map<CoverageState, std::size_t> totals;
  Json& cells = json["cells"] = Json::array();
  for (const auto& row : rows) {
    ++totals[row.state];
    cells.push_back({{"cell", row.cell},
                     {"wheel", row.wheel},
                     {"state", to_string(row.state)},
                     {"published", row.published},
                     {"why", row.why}});
  }
  for (const auto state :
       {CoverageState::published, CoverageState::missing, CoverageState::stale, CoverageState::failing})
    json["totals"][to_string(state)] = totals[state];
  return json_text(json);
}

}  // namespace sagekit
