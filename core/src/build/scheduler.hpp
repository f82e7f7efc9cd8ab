#pragma once
// Runs tasks that depend on each other, on as many CPUs and within as much memory as there is.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

namespace sagekit {

struct Task {
  std::vector<std::size_t> depends;
  double cpu_seconds = 0;          ///< estimate: what is on the longest way to the end comes first
  std::uint64_t memory_bytes = 0;  ///< estimate: tasks that run together stay within the budget
};

enum class TaskOutcome {
  done,
  failed,         ///< what depends on it never runs
  out_of_memory,  ///< run again once: alone, with a doubled estimate; then it is a failure
  stopped,        ///< ended on request
};

struct SchedulerLimits {
  std::size_t jobs = 1;            ///< at least 1
  std::uint64_t memory_bytes = 0;  ///< 0 = unlimited; one task alone may always run
  bool keep_going = false;         ///< after a failure; else running tasks are stopped
};

/// Called from worker threads; `attempt` counts from 0. The token is stopped by the caller's stop and by a failure.
using TaskFunction = std::function<TaskOutcome(std::size_t task, unsigned attempt, std::stop_token stop)>;

/// What became of each task; `stopped` also for those that never ran.
std::vector<TaskOutcome> run_tasks(const std::vector<Task>& tasks, const SchedulerLimits& limits,
                                   const TaskFunction& work, std::stop_token stop);

/// CPU seconds from a task's start to the end of the longest chain behind it.
std::vector<double> critical_paths(const std::vector<Task>& tasks);

}  // namespace sagekit
