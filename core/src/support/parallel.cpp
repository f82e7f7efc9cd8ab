#include "support/parallel.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <iterator>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

namespace sagekit {

unsigned available_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

void run_in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work) {
  run_within_budget(std::vector<std::uint64_t>(count), 0, threads, work);
}

void run_within_budget(const std::vector<std::uint64_t>& costs, std::uint64_t budget, unsigned threads,
                       const std::function<void(std::size_t)>& work) {
  run_with_workers(costs, budget, threads, [&] { return work; });
}

void run_with_workers(const std::vector<std::uint64_t>& costs, std::uint64_t budget, unsigned threads,
                      const std::function<std::function<void(std::size_t)>()>& make_worker) {
  // Largest first: the last pieces to end are small ones, so no thread waits long for another. The second number is
  // counted down, so that the last of equally dear ones is the lowest index.
  std::set<std::pair<std::uint64_t, std::size_t>> waiting;
  for (std::size_t i = 0; i < costs.size(); ++i) waiting.emplace(costs[i], costs.size() - 1 - i);

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
      const std::size_t index = costs.size() - 1 - chosen->second;
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
    try {
      while (pool.size() + 1 < helpers) pool.emplace_back(loop);
    } catch (const std::system_error&) {  // no more threads to be had: fewer do the same work
    }
    if (helpers > 0) loop();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sagekit
