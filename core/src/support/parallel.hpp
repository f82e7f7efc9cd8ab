#pragma once
// Runs independent pieces of work on a few threads, if need be while the memory they need together stays below a
// budget.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace sagekit {

/// How many threads this process may use at once (at least 1).
unsigned available_threads();

/// Calls `work(i)` once for every i below `count`, lowest first, on at most `threads` threads: this one, and others as
/// far as the system gives them. The first exception that a piece throws is thrown again here, after all threads ended.
void run_in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work);

/// The same, dearest first; of equally dear ones the lowest.
/// A piece starts when the costs (bytes) of those that run stay within `budget`, or when none runs; one that does not
/// fit lets cheaper ones pass.
void run_within_budget(const std::vector<std::uint64_t>& costs, std::uint64_t budget, unsigned threads,
                       const std::function<void(std::size_t)>& work);

/// The same with workers that keep buffers: each thread makes its own, when it has its first piece.
void run_with_workers(const std::vector<std::uint64_t>& costs, std::uint64_t budget, unsigned threads,
                      const std::function<std::function<void(std::size_t)>()>& make_worker);

}  // namespace sagekit
