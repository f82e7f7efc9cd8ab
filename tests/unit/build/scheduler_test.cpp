#include "build/scheduler.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

using namespace sagekit;

namespace {

/// Records the order of starts and what ran together.
struct OrderRecorder {
  std::mutex mutex;
  std::vector<std::size_t> order;
  std::size_t running = 0, most = 0;
  /// Task 0 runs until so many have started, and each until so many ran together: the order must not hang on how busy
  /// the machine is. They give up after 30 s.
  std::size_t first_waits_for = 0, all_wait_for = 0;

  TaskFunction work(TaskOutcome outcome = TaskOutcome::done) {
    return [this, outcome](std::size_t task, unsigned, std::stop_token) {
      {
        const std::lock_guard lock(mutex);
        order.push_back(task);
        most = std::max(most, ++running);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      for (int turn = 0; turn < 3000 && must_wait(task); ++turn)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      const std::lock_guard lock(mutex);
      --running;
      return outcome;
    };
  }

 private:
  bool must_wait(std::size_t task) {
    const std::lock_guard lock(mutex);
    return most < all_wait_for || (task == 0 && order.size() < first_waits_for);
  }
};

}  // namespace

TEST_CASE("a task starts after what it depends on, the longest way first") {
  // 0 -> 1 is a short way, 2 -> 3 a long one, 4 stands alone.
  const std::vector<Task> tasks{{{}, 1, 0}, {{0}, 1, 0}, {{}, 2, 0}, {{2}, 50, 0}, {{}, 5, 0}};
  CHECK(critical_paths(tasks) == std::vector<double>{2, 1, 52, 50, 5});
  OrderRecorder recorder;
  const auto outcomes = run_tasks(tasks, {1, 0, false}, recorder.work(), {});
  CHECK(std::ranges::count(outcomes, TaskOutcome::done) == 5);
  CHECK(recorder.order == std::vector<std::size_t>{2, 3, 4, 0, 1});
}

TEST_CASE("as many tasks run together as there are jobs") {
  OrderRecorder recorder;
  recorder.all_wait_for = 3;
  run_tasks(std::vector<Task>(8), {3, 0, false}, recorder.work(), {});
  CHECK(recorder.most == 3);
}

TEST_CASE("tasks that run together stay within the memory budget; a task above it runs alone") {
  std::vector<Task> tasks(4, Task{{}, 1, 60});
  tasks.push_back({{}, 1, 500});
  std::mutex mutex;
  std::uint64_t used = 0, most = 0;
  std::atomic<int> beside_the_big = 0;
  const auto outcomes = run_tasks(tasks, {4, 130, false},
                                  [&](std::size_t task, unsigned, std::stop_token) {
                                    {
                                      const std::lock_guard lock(mutex);
                                      if (task == 4 && used > 0) ++beside_the_big;
                                      used += tasks[task].memory_bytes;
                                      if (task != 4) most = std::max(most, used);
                                    }
                                    std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                    const std::lock_guard lock(mutex);
                                    used -= tasks[task].memory_bytes;
                                    return TaskOutcome::done;
                                  },
                                  {});
  CHECK(std::ranges::count(outcomes, TaskOutcome::done) == 5);
  CHECK(most == 120);
  CHECK(beside_the_big == 0);
}

TEST_CASE("what tasks write between stays within the disk budget; a task above it runs alone") {
  std::vector<Task> tasks(6);
  for (auto& task : tasks) task.disk_bytes = 40;
  tasks.front().disk_bytes = 400;
  OrderRecorder recorder;
  SchedulerLimits limits{4, 0, false};
  limits.disk_bytes = 100;
  const auto outcomes = run_tasks(tasks, limits, recorder.work(), {});
  CHECK(std::ranges::count(outcomes, TaskOutcome::done) == 6);
  CHECK(recorder.most == 2);
}

TEST_CASE("a task that ran out of memory runs again alone, and fails the second time") {
  const std::vector<Task> tasks(3);
  std::atomic<int> running = 0, together = 0;
  std::atomic<unsigned> attempts = 0;
  const auto outcomes = run_tasks(tasks, {3, 0, true},
                                  [&](std::size_t task, unsigned attempt, std::stop_token) {
                                    ++running;
                                    std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                    if (task == 0) ++attempts;
                                    if (task == 0 && attempt == 1 && running > 1) ++together;
                                    --running;
                                    return task == 0 ? TaskOutcome::out_of_memory : TaskOutcome::done;
                                  },
                                  {});
  CHECK(attempts == 2);
  CHECK(together == 0);
  CHECK(outcomes == std::vector<TaskOutcome>{TaskOutcome::failed, TaskOutcome::done, TaskOutcome::done});
}

TEST_CASE(
    "after a failure nothing more starts and what runs is finished; when asked to go on, only what depends on it is "
    "left out") {
  const std::vector<Task> tasks{{{}, 9, 0}, {{0}, 1, 0}, {{}, 1, 0}};
  const auto fail_first = [](std::size_t task, unsigned, std::stop_token) {
    return task == 0 ? TaskOutcome::failed : TaskOutcome::done;
  };
  using enum TaskOutcome;
  CHECK(run_tasks(tasks, {1, 0, false}, fail_first, {}) == std::vector<TaskOutcome>{failed, stopped, stopped});
  CHECK(run_tasks(tasks, {1, 0, true}, fail_first, {}) == std::vector<TaskOutcome>{failed, stopped, done});

  std::atomic<bool> other_runs = false;
  const auto outcomes = run_tasks(std::vector<Task>(3), {2, 0, false},
                                  [&](std::size_t task, unsigned, std::stop_token stop) {
                                    if (task == 0) {
                                      while (!other_runs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                      return TaskOutcome::failed;
                                    }
                                    other_runs = true;
                                    std::this_thread::sleep_for(std::chrono::milliseconds(50));
                                    return stop.stop_requested() ? TaskOutcome::stopped : TaskOutcome::done;
                                  },
                                  {});
  CHECK(outcomes == std::vector<TaskOutcome>{failed, done, stopped});
}

TEST_CASE("a large task is not starved by many small ones") {
  // 1 is the longest way and needs almost all memory; while 0 runs it does not fit, and the small ones would always do.
  std::vector<Task> tasks{{{}, 200, 50, 0.05}, {{}, 100, 90, 1}};
  for (int i = 0; i < 20; ++i) tasks.push_back({{}, 1, 50, 60});
  OrderRecorder recorder;
  const auto outcomes = run_tasks(tasks, {4, 100, false}, recorder.work(), {});
  CHECK(std::ranges::count(outcomes, TaskOutcome::done) == 22);
  REQUIRE(recorder.order.size() == 22);
  CHECK(recorder.order[0] == 0);
  CHECK(recorder.order[1] == 1);
}

TEST_CASE("what ends before a large task could start, or leaves it its room, may pass it") {
  std::vector<Task> tasks{{{}, 200, 50, 600}, {{}, 100, 90, 1}, {{}, 1, 50, 0.01}, {{}, 1, 10, 60}};
  OrderRecorder recorder;
  recorder.first_waits_for = 3;
  run_tasks(tasks, {4, 100, false}, recorder.work(), {});
  CHECK(std::ranges::find(recorder.order, 2u) < std::ranges::find(recorder.order, 1u));
  CHECK(std::ranges::find(recorder.order, 3u) < std::ranges::find(recorder.order, 1u));
}

TEST_CASE("with an end set nothing is started that would not be done by then") {
  const std::vector<Task> tasks{{{}, 1, 0, 3600}, {{}, 1, 0, 0.01}, {{1}, 1, 0, 0.01}, {{0}, 1, 0, 0.01}};
  OrderRecorder recorder;
  const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  using enum TaskOutcome;
  CHECK(run_tasks(tasks, {2, 0, false, soon}, recorder.work(), {}) ==
        std::vector<TaskOutcome>{stopped, done, done, stopped});
  CHECK(recorder.order == std::vector<std::size_t>{1, 2});
  CHECK(run_tasks(tasks, {2, 0, false, std::chrono::steady_clock::now()}, recorder.work(), {}) ==
        std::vector<TaskOutcome>(4, stopped));
}

TEST_CASE("a stop from outside ends the run, also one that was asked for before") {
  std::stop_source stop;
  int ran = 0;
  const auto outcomes = run_tasks(
      std::vector<Task>(3), {1, 0, false},
      [&](std::size_t, unsigned, std::stop_token) {
        ++ran;
        stop.request_stop();
        return TaskOutcome::done;
      },
      stop.get_token());
  CHECK(ran == 1);
  CHECK(std::ranges::count(outcomes, TaskOutcome::stopped) == 2);
  run_tasks(
      std::vector<Task>(3), {1, 0, false},
      [&](std::size_t, unsigned, std::stop_token) {
        ++ran;
        return TaskOutcome::done;
      },
      stop.get_token());
  CHECK(ran == 1);
}
