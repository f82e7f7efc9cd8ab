#include "support/format.hpp"
#include "support/json.hpp"

#include <sagekit/plan.hpp>
#include <sagekit/shards.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>

namespace sagekit {

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
  count = std::max<std::size_t>(count, 1);
  // Steps that compile one source share its GPU code, whatever torch, Python or CPU they are for.
  std::map<std::string, std::vector<const Step*>> by_source;
  double sum = 0;
  for (const auto& step : plan.steps) {
    if (!step.depends.empty()) continue;
    by_source[step.inputs.empty() ? step.id : step.inputs.front()].push_back(&step);
    sum += step.cost.cpu_seconds;
  }
  std::vector<ShardItem> items;
  std::vector<std::vector<const Step*>> steps_of_item;
  const auto add = [&](const std::string& id, double cost, std::vector<const Step*> steps) {
    items.push_back({cost, id});
    steps_of_item.push_back(std::move(steps));
  };
  for (const auto& [source, steps] : by_source) {
    double cost = 0;
    for (const auto* step : steps) cost += step->cost.cpu_seconds;
    // More than an even share is dealt out: to wait for one machine costs more than to make that code twice.
    if (cost * static_cast<double>(count) <= sum)
      add(source, cost, steps);
    else
      for (const auto* step : steps) add(step->id, step->cost.cpu_seconds, {step});
  }
  const auto assigned = assign_shards(items, count);
  std::vector<std::vector<std::string>> shards(count);
  for (std::size_t i = 0; i < items.size(); ++i)
    for (const auto* step : steps_of_item[i]) shards[assigned[i]].push_back(step->id);
  for (auto& shard : shards) std::ranges::sort(shard);
  return shards;
}

std::string shards_json(const Plan& plan, std::size_t count, std::size_t shard) {
  const auto shards = shards_of(plan, count);
  Json list = Json::array();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (shard != 0 && shard != i + 1) continue;
    double seconds = 0;
    for (const auto& step : plan.steps)
      if (std::ranges::binary_search(shards[i], step.id)) seconds += step.cost.cpu_seconds;
    list.push_back(
        {{"shard", fmt::format("{}/{}", i + 1, count)}, {"steps", shards[i]}, {"cpu_seconds_estimate", seconds}});
  }
  return json_text({{"schema", "sagekit.shards/1"}, {"shards", std::move(list)}});
}

}  // namespace sagekit
