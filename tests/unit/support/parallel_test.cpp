#include "support/parallel.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>

using namespace sagekit;

TEST_CASE("every index is worked on once; on one thread lowest first") {
  std::vector<std::size_t> order;
  run_in_parallel(5, 1, [&](std::size_t i) { order.push_back(i); });
  CHECK(order == std::vector<std::size_t>{0, 1, 2, 3, 4});
  std::vector<std::atomic<int>> calls(200);
  run_in_parallel(calls.size(), 8, [&](std::size_t i) { ++calls[i]; });
  for (const auto& count : calls) CHECK(count == 1);
  run_in_parallel(0, 4, [](std::size_t) { FAIL("there is nothing to do"); });
}

TEST_CASE("with costs the dearest is first, and of equally dear ones the lowest") {
  std::vector<std::size_t> order;
  run_within_budget({1, 7, 1, 7}, 100, 1, [&](std::size_t i) { order.push_back(i); });
  CHECK(order == std::vector<std::size_t>{1, 3, 0, 2});
}

TEST_CASE("what a piece throws arrives here, after the others ended") {
  CHECK_THROWS_AS(run_in_parallel(3, 2,
                                  [](std::size_t i) {
                                    if (i == 1) throw std::runtime_error("no");
                                  }),
                  std::runtime_error);
}
