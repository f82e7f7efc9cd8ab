#include "build/progress.hpp"

#include <algorithm>
#include <numeric>

namespace sagekit {

std::string_view to_string(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::started: return "started";
    case StepOutcome::reused: return "reused";
    case StepOutcome::finished: return "finished";
    case StepOutcome::failed: return "failed";
    case StepOutcome::retried: return "retried";
  }
  return "";
}

Progress::Progress(BuildObserver& observer, std::vector<double> estimates, std::size_t jobs)
    : m_observer(observer),
      m_estimates(std::move(estimates)),
      m_jobs(std::max<std::size_t>(jobs, 1)),
      m_estimate_left(std::accumulate(m_estimates.begin(), m_estimates.end(), 0.0)) {}

BuildEvent Progress::event(StepOutcome outcome, const Step& step) const {
  BuildEvent event;
  event.outcome = outcome;
  event.step = &step;
  event.done = m_done;
  event.total = m_estimates.size();
  // What was estimated for the finished ones against what they took corrects the rest.
  if (m_estimate_done > 0 && m_sum.cpu_seconds > 0)
    event.eta_seconds =
        std::max(0.0, m_estimate_left) * (m_sum.cpu_seconds / m_estimate_done) / static_cast<double>(m_jobs);
  return event;
}

void Progress::started(const Step& step, std::vector<std::string> waited_for) {
  const std::lock_guard lock(m_mutex);
  auto told = event(StepOutcome::started, step);
  told.waited_for = std::move(waited_for);
  m_observer.on_event(told);
}

void Progress::ended(std::size_t index, const Step& step, StepReport report, bool again) {
  const std::lock_guard lock(m_mutex);
  m_sum.cpu_seconds += report.measured.cpu_seconds;
  m_sum.peak_memory_bytes = std::max(m_sum.peak_memory_bytes, report.measured.peak_memory_bytes);
  if (report.error && !m_error) m_error = report.error;
  if (!report.retried.empty() || again) {
    auto retried = event(StepOutcome::retried, step);
    retried.message = again ? "it ran out of memory; it is run again, alone: " + report.failure.cause : report.retried;
    retried.restarts = again;
    m_observer.on_event(retried);
    if (again) return;
  }
  m_estimate_left -= m_estimates[index];
  ++m_done;
  if (report.outcome == StepOutcome::reused) ++m_sum.steps_reused;
  if (report.outcome == StepOutcome::finished) {
    ++m_sum.steps_run;
    m_estimate_done += m_estimates[index];
  }
  auto told = event(report.outcome, step);
  told.cpu_seconds = report.measured.cpu_seconds;
  told.wall_seconds = report.measured.wall_seconds;
  told.peak_memory_bytes = report.measured.peak_memory_bytes;
  if (report.outcome == StepOutcome::failed) {
    ++m_sum.steps_failed;
    told.message = report.error ? report.error->message : report.failure.cause;
    for (const auto& cell : step.cells) {
      m_sum.failed.push_back(report.failure);
      m_sum.failed.back().cell = cell;
    }
  }
  m_observer.on_event(told);
}

void Progress::say(const std::string& text) {
  const std::lock_guard lock(m_mutex);
  m_observer.on_message(text);
}

void Progress::staged(const CellBuild& cell) {
  const std::lock_guard lock(m_mutex);
  m_observer.on_cell(cell);
}

void Progress::add_to(Build& build) const {
  build.failed = m_sum.failed;
  build.steps_run = m_sum.steps_run;
  build.steps_reused = m_sum.steps_reused;
  build.steps_failed = m_sum.steps_failed;
  build.cpu_seconds = m_sum.cpu_seconds;
  build.peak_memory_bytes = m_sum.peak_memory_bytes;
  build.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
}

}  // namespace sagekit
