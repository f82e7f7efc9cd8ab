#pragma once
// What a running build shows: on a terminal a block that is redrawn (how far, how long yet, what runs), plain lines in
// CI, an event a line with --jsonl.

#include "console.hpp"

#include <sagekit/build.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace sagekit::host {

/// "compile", "setup.py": what a person calls such a step.
std::string_view step_word(StepKind kind);

class BuildProgress : public BuildObserver {
 public:
  enum class Form { terminal, lines, json_lines, quiet };
  /// `groups`: plain lines are a group of a GitHub Actions log.
  BuildProgress(const Console& console, Form form, bool groups = false);
  ~BuildProgress() override;
  BuildProgress(const BuildProgress&) = delete;
  BuildProgress& operator=(const BuildProgress&) = delete;

  void on_event(const BuildEvent& event) override;
  void on_message(const std::string& text) override;
  /// Nothing is drawn until the lock goes: the console is someone else's so long.
  std::unique_lock<std::mutex> give_way();

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    std::string title;
    Clock::time_point since;
    std::uint64_t memory_bytes = 0;  ///< what the plan expects of it; 0 = not known
  };

  void draw();
  void clear();
  void end_group();
  void line(const BuildEvent& event);
  void json_line(const BuildEvent& event);

  const Console& m_console;
  Form m_form;
  bool m_groups, m_in_group = false, m_drawn = false;
  std::mutex m_mutex;  ///< events come from the build's threads, redraws from m_clock
  std::uint64_t m_done = 0, m_total = 0, m_reused = 0, m_failed = 0;
  double m_eta_seconds = 0;
  Clock::time_point m_began = Clock::now(), m_eta_at = m_began;
  std::map<std::string, Running> m_running;  ///< by step id
  std::jthread m_clock;                      ///< last: it stops before the rest goes
};

BuildProgress::Form progress_form(bool quiet, bool json_lines, bool redraws);

/// The last line of a dry run, with what it could not look up: keys are made of tools and source.
std::string dry_run_summary(const Build& build);

}  // namespace sagekit::host
