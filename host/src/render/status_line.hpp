#pragma once
// One line that is redrawn on a terminal and gone before anything else is printed.

#include "console.hpp"

#include <string>

namespace sagekit::host {

class StatusLine {
 public:
  /// Shows nothing where stderr is no terminal, in CI and with --quiet.
  StatusLine(const Console& console, bool ci);
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(const std::string& text);
  void clear();

 private:
  const Console& m_console;
  bool m_terminal, m_drawn = false;
};

}  // namespace sagekit::host
