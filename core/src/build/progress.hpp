#pragma once
// What happens during a build, summed and told to the observer one event at a time.

#include "build/executor.hpp"

#include <sagekit/build.hpp>

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sagekit {

class Progress {
 public:
  /// `estimates`: CPU seconds of each step.
  Progress(BuildObserver& observer, std::vector<double> estimates, std::size_t jobs);

  void started(const Step& step, std::vector<std::string> waited_for);
  /// `again`: the scheduler will run it once more, alone.
  void ended(std::size_t index, const Step& step, StepReport report, bool again);
  void say(const std::string& text);
  void staged(const CellBuild& cell);

  /// Sums and failures so far.
  void add_to(Build& build) const;
  /// The first thing that kept sagekit itself from working.
  const std::optional<Error>& error() const { return m_error; }

 private:
  BuildEvent event(StepOutcome outcome, const Step& step) const;

  BuildObserver& m_observer;
  std::vector<double> m_estimates;
  std::size_t m_jobs;
  std::mutex m_mutex;
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
  double m_estimate_left = 0, m_estimate_done = 0;
  std::uint64_t m_done = 0;
  Build m_sum;
  std::optional<Error> m_error;
};

}  // namespace sagekit
