#include "inspect/work_pool.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

namespace sagekit {

unsigned available_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

void run_within_budget(const std::vector<std::uint64_t>& costs, std::uint64_t budget, unsigned threads,
                       const std::function<void(std::size_t)>& work) {
  run_with_workers(costs, budget, threads, [&] { return work; });
}

void run_with_workers(const std::vector<std::uint64_t>& costs, std::uint64_t budget, unsigned threads,
                      const std::function<std::function<void(std::size_t)>()>& make_worker) {
  // Largest first: the last pieces to end are small ones, so no thread waits long for another.
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return costs[a] != costs[b] ? costs[a] > costs[b] : a < b; });

  std::mutex mutex;
  std::condition_variable released;
  std::size_t next = 0;
  std::size_t running = 0;
  std::uint64_t in_use = 0;
  std::exception_ptr failure;

  const auto loop = [&] {
    std::function<void(std::size_t)> work;
    std::unique_lock lock(mutex);
    while (true) {
      released.wait(lock, [&] {
        return next == order.size() || running == 0 || (in_use <= budget && costs[order[next]] <= budget - in_use);
      });
      if (next == order.size()) return;
      const std::size_t index = order[next++];
      ++running;
      in_use += costs[index];
      lock.unlock();
      std::exception_ptr caught;
      try {
        if (!work) work = make_worker();
        work(index);
      } catch (...) {
        caught = std::current_exception();
      }
      lock.lock();
      --running;
      in_use -= costs[index];
      if (caught && !failure) {
        failure = caught;
        next = order.size();
      }
      released.notify_all();
    }
  };

  const std::size_t helpers = std::min<std::size_t>(std::max(1u, threads), costs.size());
  {
    std::vector<std::jthread> pool;
    for (std::size_t i = 1; i < helpers; ++i) pool.emplace_back(loop);
    if (helpers > 0) loop();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sagekit
