#include "build/scheduler.hpp"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace sagekit {

namespace {

using Clock = std::chrono::steady_clock;

/// What tasks share.
struct Room {
  std::uint64_t memory = 0, disk = 0;

  Room& operator+=(const Room& more) { return memory += more.memory, disk += more.disk, *this; }
  Room& operator-=(const Room& less) { return memory -= less.memory, disk -= less.disk, *this; }
  bool within(const Room& whole) const { return memory <= whole.memory && disk <= whole.disk; }
};
Room operator+(Room one, const Room& other) { return one += other; }

Room budget(const SchedulerLimits& limits) {
  const auto limit = [](std::uint64_t bytes) { return bytes == 0 ? std::numeric_limits<std::uint64_t>::max() : bytes; };
  return {limit(limits.memory_bytes), limit(limits.disk_bytes)};
}

class Scheduler {
 public:
  Scheduler(const std::vector<Task>& tasks, const SchedulerLimits& limits, const TaskFunction& work,
            std::stop_token stop)
      : m_tasks(tasks),
        m_limits(limits),
        m_budget(budget(limits)),
        m_work(work),
        m_states(tasks.size()),
        m_outcomes(tasks.size(), TaskOutcome::stopped),
        m_paths(critical_paths(tasks)),
        m_on_stop(stop, [this] { halt(); }) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      m_states[i].waits_for = tasks[i].depends.size();
      m_states[i].wants = {tasks[i].memory_bytes, tasks[i].disk_bytes};
      for (const auto before : tasks[i].depends) m_states[before].behind.push_back(i);
    }
  }

  std::vector<TaskOutcome> run() {
    {
      std::vector<std::jthread> workers;
      const auto count = std::min(std::max<std::size_t>(m_limits.jobs, 1), m_tasks.size());
      try {
        while (workers.size() < count) workers.emplace_back([this] { serve(); });
      } catch (const std::system_error&) {  // no more threads to be had: fewer do the same work
      }
      if (workers.empty() && count > 0) serve();
    }
    return m_outcomes;
  }

 private:
  struct State {
    std::size_t waits_for = 0;
    std::vector<std::size_t> behind;
    Room wants;
    unsigned attempt = 0;
    bool started = false, running = false, alone = false;
    Clock::time_point ends;  ///< expected, while it runs
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
      state.running = true;
      state.ends = Clock::now() + expected(*next);
      ++m_running;
      m_used += state.wants;
      m_exclusive = state.alone;
      const auto attempt = state.attempt;
      lock.unlock();
      const auto outcome = m_work(*next, attempt, m_stop.get_token());
      lock.lock();
      state.running = false;
      --m_running;
      m_used -= state.wants;
      m_exclusive = false;
      settle(*next, outcome);
      m_changed.notify_all();
    }
  }

  bool finished() const { return m_running == 0 && (closed() || !first_ready()); }

  bool closed() const { return m_closed || m_stop.stop_requested(); }

  std::chrono::duration<double> seconds_of(std::size_t task) const {
    const Task& t = m_tasks[task];
    return std::chrono::duration<double>(std::max(t.wall_seconds > 0 ? t.wall_seconds : t.cpu_seconds, 0.0));
  }
  Clock::duration expected(std::size_t task) const {
    return std::chrono::duration_cast<Clock::duration>(seconds_of(task));
  }

  bool ready(std::size_t task) const {
    const State& s = m_states[task];
    return !s.started && s.waits_for == 0 &&
           (!m_limits.stop_after || Clock::now() + expected(task) <= *m_limits.stop_after);
  }

  template <class Allowed>
  std::optional<std::size_t> longest(Allowed allowed) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < m_states.size(); ++i)
      if (ready(i) && allowed(i) && (!best || m_paths[i] > m_paths[*best])) best = i;
    return best;
  }
  std::optional<std::size_t> first_ready() const {
    return longest([](std::size_t) { return true; });
  }

  /// The ready task with the longest way behind it; when that does not fit what is free now, one that is not in its
  /// way.
  std::optional<std::size_t> admit() const {
    if (closed() || m_exclusive) return std::nullopt;
    const auto first = first_ready();
    if (!first || fits(m_states[*first])) return first;
    const auto [start, spare] = reserve(m_states[*first]);
    return longest([&, start = start, spare = spare](std::size_t i) {
      return fits(m_states[i]) && (m_states[i].wants.within(spare) || Clock::now() + expected(i) <= start);
    });
  }

  /// When a task is expected to find room, and how much is left beside it then.
  std::pair<Clock::time_point, Room> reserve(const State& wants) const {
    std::vector<const State*> running;
    for (const auto& s : m_states)
      if (s.running) running.push_back(&s);
    std::ranges::sort(running, {}, &State::ends);
    auto used = m_used;
    for (const auto* s : running) {
      used -= s->wants;
      const bool found = !wants.alone && (used + wants.wants).within(m_budget);
      if (!found && s != running.back()) continue;
      auto spare = m_budget;
      if (found) spare -= used + wants.wants;
      return {s->ends, found ? spare : Room{}};
    }
    return {Clock::now(), Room{}};
  }

  bool fits(const State& s) const {
    if (m_running == 0) return true;
    return !s.alone && (m_used + s.wants).within(m_budget);
  }

  void settle(std::size_t task, TaskOutcome outcome) {
    State& state = m_states[task];
    if (outcome == TaskOutcome::out_of_memory && ++state.attempt < k_most_attempts) {
      state.started = false;
      state.alone = true;
      state.wants.memory *= 2;
      return;
    }
    if (outcome == TaskOutcome::out_of_memory) outcome = TaskOutcome::failed;
    m_outcomes[task] = outcome;
    if (outcome == TaskOutcome::done)
      for (const auto behind : state.behind) --m_states[behind].waits_for;
    if (outcome == TaskOutcome::failed && !m_limits.keep_going) m_closed = true;
  }

  const std::vector<Task>& m_tasks;
  SchedulerLimits m_limits;
  Room m_budget;
  const TaskFunction& m_work;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::stop_source m_stop;
  std::vector<State> m_states;
  std::vector<TaskOutcome> m_outcomes;
  std::vector<double> m_paths;
  std::size_t m_running = 0;
  Room m_used;
  bool m_exclusive = false;
  bool m_closed = false;                                ///< nothing more is started
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
