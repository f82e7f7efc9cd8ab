#include <sagekit/plan.hpp>
#include <sagekit/shards.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

using namespace sagekit;

namespace {

std::vector<double> loads_of(const std::vector<ShardItem>& items, std::size_t count) {
  std::vector<double> loads(count, 0);
  const auto shards = assign_shards(items, count);
  for (std::size_t i = 0; i < items.size(); ++i) loads.at(shards[i]) += items[i].cost;
  return loads;
}

}  // namespace

TEST_CASE("shards are as even as longest-first makes them, whatever the order of the items") {
  std::mt19937 random(7);
  for (const std::size_t count : {1U, 2U, 5U, 16U}) {
    std::vector<ShardItem> items;
    for (int i = 0; i < 90; ++i) items.push_back({double(random() % 1000) + 1, "step-" + std::to_string(i)});
    double sum = 0, largest = 0;
    for (const auto& item : items) sum += item.cost, largest = std::max(largest, item.cost);
    const auto loads = loads_of(items, count);
    CHECK(std::ranges::max(loads) <= 4.0 / 3 * std::max(sum / double(count), largest));
    const auto before = assign_shards(items, count);
    std::vector<std::size_t> order(items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::shuffle(order, random);
    std::vector<ShardItem> mixed;
    for (const auto i : order) mixed.push_back(items[i]);
    const auto after = assign_shards(mixed, count);
    for (std::size_t i = 0; i < order.size(); ++i) CHECK(after[i] == before[order[i]]);
  }
}

TEST_CASE("more shards than items leave some empty; equal costs are told apart by id") {
  CHECK(assign_shards({{1, "b"}, {1, "a"}}, 4) == std::vector<std::size_t>{1, 0});
  CHECK(assign_shards({}, 3).empty());
}

TEST_CASE("a shard is written as 2/8") {
  const auto shard = parse_shard("2/8");
  REQUIRE(shard);
  CHECK((shard->index == 2 && shard->count == 8));
  for (const auto* text : {"", "2", "0/8", "9/8", "2/", "/8", "2/8x", "a/b", "-1/2", "2/0"})
    CHECK_FALSE(parse_shard(text));
}

TEST_CASE("what one source is compiled to stays together while that is no more than an even share") {
  Plan plan;
  const auto add = [&](const std::string& id, const std::string& source, double seconds) {
    Step step;
    step.id = id;
    step.inputs = {source};
    step.cost.cpu_seconds = seconds;
    plan.steps.push_back(step);
  };
  for (const std::string source : {"a", "b", "c", "d"})
    for (const std::string torch : {"1", "2", "3"}) add(source + torch, source, source == "a" ? 30 : 10);
  Step link;
  link.id = "link";
  link.depends = {"a1"};
  plan.steps.push_back(link);
  const auto shards = shards_of(plan, 3);
  REQUIRE(shards.size() == 3);
  std::size_t steps = 0;
  for (const auto& shard : shards) {
    steps += shard.size();
    for (const std::string source : {"b", "c", "d"}) {
      const auto of_source = std::ranges::count_if(shard, [&](const auto& id) { return id.starts_with(source); });
      CHECK((of_source == 0 || of_source == 3));
    }
    CHECK(std::ranges::count_if(shard, [](const auto& id) { return id.starts_with("a"); }) == 1);
  }
  CHECK(steps == 12);
}
