#include "build/device_action.hpp"
#include "plan/half_costs.hpp"
#include "support/format.hpp"
#include "support/json.hpp"

#include <sagekit/plan.hpp>
#include <sagekit/shards.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace sagekit {

namespace {

/// The compilations of a plan, and the GPU code behind them, which several may share.
struct Compilations {
  std::vector<const Step*> steps;
  std::vector<DeviceAction> actions;
  std::vector<std::vector<std::size_t>> actions_of;  ///< by step

  explicit Compilations(const Plan& plan) {
    for (const auto& step : plan.steps)
      if (step.depends.empty()) steps.push_back(&step);
    std::ranges::sort(steps, {}, &Step::id);
    actions = device_actions(steps, {});
    actions_of.resize(steps.size());
    for (std::size_t i = 0; i < actions.size(); ++i)
      for (const auto user : actions[i].users) actions_of[user].push_back(i);
  }

  /// CPU seconds of a machine that makes these steps: GPU code that they share is made once.
  double cost_of(const std::vector<std::size_t>& part) const {
    double sum = 0;
    std::set<std::size_t> made;
    for (const auto i : part) {
      const auto& own = actions_of[i];
      sum += own.empty() ? steps[i]->cost.cpu_seconds : host_cost(steps[i]->cost, own.size()).cpu_seconds;
      for (const auto action : own)
        if (made.insert(action).second) sum += actions[action].step.cost.cpu_seconds;
    }
    return sum;
  }

  /// Steps that share GPU code, each step in one group.
  std::vector<std::vector<std::size_t>> groups() const {
    std::map<std::size_t, std::vector<std::size_t>> by_first;  // of the steps that share it
    for (std::size_t i = 0; i < steps.size(); ++i)
      by_first[actions_of[i].empty() ? i : actions[actions_of[i].front()].users.front()].push_back(i);
    std::vector<std::vector<std::size_t>> groups;
    for (auto& [first, group] : by_first) groups.push_back(std::move(group));
    return groups;
  }
};

using Parts = std::vector<std::vector<std::size_t>>;

struct Division {
  std::vector<std::size_t> shard_of_part;
  std::vector<double> loads;

  /// Most first: of two divisions the one whose list is less ends sooner, or has fewer machines that end last.
  std::vector<double> sorted_loads() const {
    auto sorted = loads;
    std::ranges::sort(sorted, std::greater{});
    return sorted;
  }
};

Division divide(const Compilations& work, const Parts& parts, std::size_t count) {
  std::vector<ShardItem> items;
  for (const auto& part : parts) items.push_back({work.cost_of(part), work.steps[part.front()]->id});
  Division division{assign_shards(items, count), std::vector<double>(count, 0)};
  for (std::size_t i = 0; i < parts.size(); ++i) division.loads[division.shard_of_part[i]] += items[i].cost;
  return division;
}

/// Halves of a part that holds up a machine, where all end sooner so, although both make the GPU code.
bool split_what_holds_up(const Compilations& work, Parts& parts, Division& division, std::size_t count) {
  const auto last = static_cast<std::size_t>(std::ranges::max_element(division.loads) - division.loads.begin());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& part = parts[i];
    if (division.shard_of_part[i] != last || part.size() < 2) continue;
    const auto middle = part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2);
    auto halves = parts;
    halves[i] = {part.begin(), middle};
    halves.emplace_back(middle, part.end());
    auto then = divide(work, halves, count);
    if (then.sorted_loads() >= division.sorted_loads()) continue;
    parts = std::move(halves);
    division = std::move(then);
    return true;
  }
  return false;
}

}  // namespace

Result<Shard> parse_shard(std::string_view text) {
  Shard shard;
  const auto* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, shard.index);
  if (first.ec == std::errc{} && first.ptr != end && *first.ptr == '/') {
    const auto second = std::from_chars(first.ptr + 1, end, shard.count);
    if (second.ec == std::errc{} && second.ptr == end && shard.index >= 1 && shard.index <= shard.count) return shard;
  }
  return fail(ErrorKind::usage, "CLI002", fmt::format("\"{}\" is no shard", text),
              "write it as 1/8, 2/8 and so on up to 8/8");
}

std::vector<std::size_t> assign_shards(const std::vector<ShardItem>& items, std::size_t count) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return items[a].cost != items[b].cost ? items[a].cost > items[b].cost : items[a].id < items[b].id;
  });
  std::vector<double> loads(std::max<std::size_t>(count, 1), 0);
  std::vector<std::size_t> shards(items.size());
  for (const auto item : order) {
    const auto least = std::ranges::min_element(loads);
    *least += std::max(items[item].cost, 0.0);
    shards[item] = static_cast<std::size_t>(least - loads.begin());
  }
  return shards;
}

std::vector<std::vector<std::string>> shards_of(const Plan& plan, std::size_t count) {
  std::vector<std::vector<std::string>> shards;
  for (auto& part : parts_of(plan, count)) shards.push_back(std::move(part.steps));
  return shards;
}

std::vector<ShardPart> parts_of(const Plan& plan, std::size_t count) {
  count = std::max<std::size_t>(count, 1);
  const Compilations work(plan);
  auto parts = work.groups();
  auto division = divide(work, parts, count);
  while (split_what_holds_up(work, parts, division, count)) {
  }
  std::vector<ShardPart> shards(count);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto& shard = shards[division.shard_of_part[i]];
    for (const auto step : parts[i]) shard.steps.push_back(work.steps[step]->id);
    shard.cpu_seconds += work.cost_of(parts[i]);
  }
  for (auto& shard : shards) std::ranges::sort(shard.steps);
  return shards;
}

std::string shards_json(const Plan& plan, std::size_t count, std::size_t shard) {
  const auto shards = parts_of(plan, count);
  Json list = Json::array();
  for (std::size_t i = 0; i < shards.size(); ++i)
    if (shard == 0 || shard == i + 1)
      list.push_back({{"shard", fmt::format("{}/{}", i + 1, count)},
                      {"steps", shards[i].steps},
                      {"cpu_seconds_estimate", std::round(shards[i].cpu_seconds * 10) / 10}});
  return json_text({{"schema", "sagekit.shards/1"}, {"shards", std::move(list)}});
}

}  // namespace sagekit
