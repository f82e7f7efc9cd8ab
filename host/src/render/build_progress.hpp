#pragma once
// What a running build shows: one redrawn line on a terminal, plain lines in CI, an event a line with --jsonl.

#include "console.hpp"

#include <sagekit/build.hpp>

#include <chrono>
#include <map>
#include <string>

namespace sagekit::host {

class BuildProgress : public BuildObserver {
 public:
  enum class Form { terminal, lines, json_lines, quiet };
  BuildProgress(const Console& console, Form form);
  ~BuildProgress() override;

  void on_event(const BuildEvent& event) override;
  void on_message(const std::string& text) override;

 private:
  void draw(const BuildEvent& event);
  void clear();
  void line(const BuildEvent& event);
  void json_line(const BuildEvent& event);

  const Console& m_console;
  Form m_form;
  bool m_drawn = false;
  std::map<std::string, std::chrono::steady_clock::time_point> m_running;  ///< step id -> start
};

/// Terminal when stderr is one and this is no CI.
BuildProgress::Form progress_form(bool quiet, bool json_lines, bool ci);

}  // namespace sagekit::host
