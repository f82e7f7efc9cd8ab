#include "support/format.hpp"

#include <sagekit/plan.hpp>
#include <sagekit/shards.hpp>
#include <sagekit/spec.hpp>

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

namespace {

Step compilation(const std::string& source, const std::string& torch, std::size_t arches, double one_arch) {
  Step step;
  step.id = source + torch;
  step.inputs = {"{source}/" + source};
  step.argv = {"{nvcc-exe-13.0}", "-ccbin", "{cxx-linux_x86_64}", "-I{torch-" + torch + "}", "{source}/" + source};
  step.device_argv = {"{nvcc-exe-13.0}", "-ccbin", "{cxx-linux_x86_64}", "{source}/" + source};
  for (auto* argv : {&step.argv, &step.device_argv})
    for (std::size_t i = 0; i < arches; ++i)
      argv->insert(argv->end(), {"-gencode", fmt::format("arch=compute_{0},code=sm_{0}", 80 + i)});
  step.cost.cpu_seconds = cpu_for_arches(one_arch, arches);
  return step;
}

std::size_t machines_with(const std::vector<ShardPart>& shards, const std::string& source) {
  return static_cast<std::size_t>(std::ranges::count_if(shards, [&](const auto& shard) {
    return std::ranges::any_of(shard.steps, [&](const auto& id) { return id.starts_with(source); });
  }));
}

}  // namespace

TEST_CASE("GPU code that steps share is one machine's, and counted once") {
  Plan plan;
  for (const std::string source : {"a", "b", "c", "d"})
    for (const std::string torch : {"1", "2", "3", "4"}) plan.steps.push_back(compilation(source, torch, 5, 100));
  Step link;
  link.id = "link";
  link.depends = {"a1"};
  plan.steps.push_back(link);
  // Each source: 5 x 70 for its GPU code, 4 x 30 around it.
  const auto shards = parts_of(plan, 4);
  REQUIRE(shards.size() == 4);
  for (const auto& shard : shards) {
    CHECK(shard.steps.size() == 4);
    CHECK(shard.cpu_seconds == doctest::Approx(470));
  }
  for (const auto* source : {"a", "b", "c", "d"}) CHECK(machines_with(shards, source) == 1);
  CHECK(shards_of(plan, 4).front() == shards.front().steps);
}

TEST_CASE("it is made twice where all end sooner so") {
  Plan plan;
  for (int torch = 0; torch < 8; ++torch) plan.steps.push_back(compilation("big", std::to_string(torch), 1, 100));
  // 70 for the GPU code and 8 x 30 around it: one machine takes 310, two 190 each, four 130, eight 100.
  for (const auto& [count, longest] : {std::pair(1U, 310.0), {2U, 190.0}, {4U, 130.0}, {8U, 100.0}, {9U, 100.0}}) {
    double most = 0;
    std::size_t steps = 0;
    for (const auto& shard : parts_of(plan, count)) {
      most = std::max(most, shard.cpu_seconds);
      steps += shard.steps.size();
    }
    CHECK(most == doctest::Approx(longest));
    CHECK(steps == 8);
  }
  // Nothing ends sooner when GPU code that another source's machine waits for anyway is made twice.
  plan.steps.push_back(compilation("huge", "1", 5, 500));
  CHECK(machines_with(parts_of(plan, 2), "big") == 1);
}

TEST_CASE("steps without GPU code are dealt out one by one, and a plan without steps has empty shards") {
  Plan plan;
  for (int i = 0; i < 6; ++i) {
    Step step;
    step.id = std::to_string(i);
    step.inputs = {"{source}/pybind.cpp"};
    step.cost.cpu_seconds = 6;
    plan.steps.push_back(step);
  }
  for (const auto& shard : parts_of(plan, 3))
    CHECK((shard.steps.size() == 2 && shard.cpu_seconds == doctest::Approx(12)));
  CHECK(parts_of(Plan(), 2).size() == 2);
}
