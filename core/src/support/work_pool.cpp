#include "support/work_pool.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <iterator>
#include <mutex>
#include <set>
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
  std::set<std::pair<std::uint64_t, std::size_t>> waiting;
  for (std::size_t i = 0; i < costs.size(); ++i) waiting.emplace(costs[i], i);

  std::mutex mutex;
  std::condition_variable released;
  std::size_t running = 0;
  std::uint64_t in_use = 0;
  std::exception_ptr failure;

  // The dearest that fits beside what runs; a piece beyond the whole budget runs alone.
  const auto dearest = [&] {
    if (running == 0) return std::prev(waiting.end());
    const std::uint64_t left = in_use <= budget ? budget - in_use : 0;
    const auto behind = waiting.upper_bound({left, SIZE_MAX});
    return behind == waiting.begin() ? waiting.end() : std::prev(behind);
  };

  const auto loop = [&] {
    std::function<void(std::size_t)> work;
    std::unique_lock lock(mutex);
    while (true) {
      released.wait(lock, [&] { return waiting.empty() || dearest() != waiting.end(); });
      if (waiting.empty()) return;
      const auto chosen = dearest();
      const std::size_t index = chosen->second;
      waiting.erase(chosen);
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
        waiting.clear();
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
