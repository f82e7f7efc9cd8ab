#pragma once
// What a build did when, kept while it runs: a timeline for Perfetto (Chrome's trace event format), and what took so
// long.

#include <sagekit/build.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sagekit::host {

/// Hands everything on to `next`.
class BuildTrace final : public BuildObserver {
 public:
  explicit BuildTrace(BuildObserver& next) : m_next(next) {}
  void on_event(const BuildEvent& event) override;
  void on_message(const std::string& text) override;
  void on_cell(const CellBuild& cell) override { m_next.on_cell(cell); }

  /// A row a slot, a span a step; opens in ui.perfetto.dev and chrome://tracing.
  std::string chrome_trace() const;
  /// Which steps, one waiting for the other, the end waited for, and what would shorten that; "" = nothing ran.
  std::string longest_chain() const;
  /// The sums of a build that was ended before its time; nothing = no step began.
  std::optional<Build> so_far() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Span {
    std::string id, kind, module;
    std::vector<std::string> depends, cells;
    StepOutcome outcome = StepOutcome::started;
    std::size_t slot = 0;
    double begin = 0, end = -1;  ///< seconds since the first event; -1 = it did not end
    double cpu_seconds = 0;
    std::uint64_t peak_memory_bytes = 0;
    int retries = 0;
  };
  /// The steps, each waiting for the one before, that together take longest: no number of cores builds faster.
  std::vector<const Span*> heaviest_chain() const;
  double now() const { return std::chrono::duration<double>(Clock::now() - m_began).count(); }

  BuildObserver& m_next;
  mutable std::mutex m_mutex;
  Clock::time_point m_began = Clock::now();
  std::vector<Span> m_spans;
  std::map<std::string, std::size_t> m_by_id;
  std::vector<bool> m_busy;  ///< slots
};

}  // namespace sagekit::host
