#include "build/scheduler.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace sagekit {

namespace {

constexpr unsigned k_most_attempts = 2;

class Scheduler {
 public:
  Scheduler(const std::vector<Task>& tasks, const SchedulerLimits& limits, const TaskFunction& work,
            std::stop_token stop)
      : m_tasks(tasks),
        m_limits(limits),
        m_work(work),
        m_states(tasks.size()),
        m_outcomes(tasks.size(), TaskOutcome::stopped),
        m_paths(critical_paths(tasks)),
        m_on_stop(stop, [this] { halt(); }) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      m_states[i].waits_for = tasks[i].depends.size();
      m_states[i].memory = tasks[i].memory_bytes;
      for (const auto before : tasks[i].depends) m_states[before].behind.push_back(i);
    }
  }

  std::vector<TaskOutcome> run() {
    {
      std::vector<std::jthread> workers;
      const auto count = std::min(std::max<std::size_t>(m_limits.jobs, 1), m_tasks.size());
      for (std::size_t i = 0; i < count; ++i) workers.emplace_back([this] { serve(); });
    }
    return m_outcomes;
  }

 private:
  struct State {
    std::size_t waits_for = 0;
    std::vector<std::size_t> behind;
    std::uint64_t memory = 0;
    unsigned attempt = 0;
    bool started = false, alone = false;
  };

  void halt() {
    m_stop.request_stop();
    const std::lock_guard lock(m_mutex);
    m_changed.notify_all();
  }

  void serve() {
    std::unique_lock lock(m_mutex);
    for (;;) {
      const auto next = admit();
      if (!next) {
        if (finished()) return;
        m_changed.wait(lock);
        continue;
      }
      State& state = m_states[*next];
      state.started = true;
      ++m_running;
      m_memory += state.memory;
      m_exclusive = state.alone;
      const auto attempt = state.attempt;
      lock.unlock();
      const auto outcome = m_work(*next, attempt, m_stop.get_token());
      lock.lock();
      --m_running;
      m_memory -= state.memory;
      m_exclusive = false;
      settle(*next, outcome);
      m_changed.notify_all();
    }
  }

  bool finished() const {
    if (m_running > 0) return false;
    return m_stop.stop_requested() ||
           std::ranges::none_of(m_states, [](const State& s) { return !s.started && s.waits_for == 0; });
  }

  /// The ready task with the longest way behind it that fits what is free now.
  std::optional<std::size_t> admit() const {
    if (m_stop.stop_requested() || m_exclusive) return std::nullopt;
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < m_states.size(); ++i) {
      const State& s = m_states[i];
      if (s.started || s.waits_for != 0 || !fits(s)) continue;
      if (!best || m_paths[i] > m_paths[*best]) best = i;
    }
    return best;
  }

  bool fits(const State& s) const {
    if (m_running == 0) return true;
    if (s.alone) return false;
    return m_limits.memory_bytes == 0 || m_memory + s.memory <= m_limits.memory_bytes;
  }

  void settle(std::size_t task, TaskOutcome outcome) {
    State& state = m_states[task];
    if (outcome == TaskOutcome::out_of_memory && ++state.attempt < k_most_attempts) {
      state.started = false;
      state.alone = true;
      state.memory *= 2;
      return;
    }
    if (outcome == TaskOutcome::out_of_memory) outcome = TaskOutcome::failed;
    m_outcomes[task] = outcome;
    if (outcome == TaskOutcome::done)
      for (const auto behind : state.behind) --m_states[behind].waits_for;
    if (outcome == TaskOutcome::failed && !m_limits.keep_going) m_stop.request_stop();
  }

  const std::vector<Task>& m_tasks;
  SchedulerLimits m_limits;
  const TaskFunction& m_work;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::stop_source m_stop;
  std::vector<State> m_states;
  std::vector<TaskOutcome> m_outcomes;
  std::vector<double> m_paths;
  std::size_t m_running = 0;
  std::uint64_t m_memory = 0;
  bool m_exclusive = false;
  std::stop_callback<std::function<void()>> m_on_stop;  // last: it uses the others
};

}  // namespace

std::vector<double> critical_paths(const std::vector<Task>& tasks) {
  std::vector<double> paths(tasks.size(), -1);
  std::vector<std::vector<std::size_t>> behind(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i)
    for (const auto before : tasks[i].depends) behind[before].push_back(i);
  const auto length = [&](const auto& self, std::size_t task) -> double {
    if (paths[task] >= 0) return paths[task];
    paths[task] = 0;  // a cycle ends here; its tasks never become ready
    double longest = 0;
    for (const auto next : behind[task]) longest = std::max(longest, self(self, next));
    return paths[task] = longest + std::max(tasks[task].cpu_seconds, 0.0);
  };
  for (std::size_t i = 0; i < tasks.size(); ++i) length(length, i);
  return paths;
}

std::vector<TaskOutcome> run_tasks(const std::vector<Task>& tasks, const SchedulerLimits& limits,
                                   const TaskFunction& work, std::stop_token stop) {
  return Scheduler(tasks, limits, work, std::move(stop)).run();
}

}  // namespace sagekit
