#pragma once
// Runs tasks that depend on each other, on as many CPUs and within as much memory as there is.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

namespace sagekit {

struct Task {
  std::vector<std::size_t> depends;
  double cpu_seconds = 0;          ///< estimate: what is on the longest way to the end comes first
  std::uint64_t memory_bytes = 0;  ///< estimate: tasks that run together stay within the budget
  double wall_seconds = 0;         ///< estimate; 0 = as its CPU time
  std::uint64_t disk_bytes = 0;    ///< estimate: what it writes between, and removes when it ends
};

/// Of a task that runs out of memory.
constexpr unsigned k_most_attempts = 2;

enum class TaskOutcome {
  done,
  failed,         ///< what depends on it never runs
  out_of_memory,  ///< run again once: alone, with a doubled estimate; then it is a failure
  stopped,        ///< ended on request, or never begun
};

struct SchedulerLimits {
  std::size_t jobs = 1;            ///< at least 1
  std::uint64_t memory_bytes = 0;  ///< 0 = unlimited; one task alone may always run
  bool keep_going = false;         ///< after a failure; else nothing more is started, and what runs is finished
  /// Nothing is started that is not expected to end before; what runs is finished.
  std::optional<std::chrono::steady_clock::time_point> stop_after = {};
  std::uint64_t disk_bytes = 0;  ///< for what all write between; 0 = unlimited; one task alone may always run
};

/// Called from worker threads; `attempt` counts from 0. The token is stopped by the caller's stop.
using TaskFunction = std::function<TaskOutcome(std::size_t task, unsigned attempt, std::stop_token stop)>;

/// What became of each task; `stopped` also for those that never ran. Of ready tasks the one with the longest way
/// behind it comes first. When it does not fit beside what runs, others may pass it only if they are expected to end
/// before it could start, or take no memory and no disk that it will want: a large one is not starved by many small
/// ones.
std::vector<TaskOutcome> run_tasks(const std::vector<Task>& tasks, const SchedulerLimits& limits,
                                   const TaskFunction& work, std::stop_token stop);

/// CPU seconds from a task's start to the end of the longest chain behind it.
std::vector<double> critical_paths(const std::vector<Task>& tasks);

}  // namespace sagekit
