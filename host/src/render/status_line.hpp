#pragma once
// One line that is redrawn on a terminal and gone before anything else is printed.

#include "console.hpp"

#include <string>

namespace sagekit::host {

class StatusLine {
 public:
  /// Shows nothing where the terminal cannot (Settings::redraws) and with --quiet.
  StatusLine(const Console& console, bool redraws) : m_console(console), m_shows(redraws && !console.quiet()) {}
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool shows() const { return m_shows; }
  void show(const std::string& text);
  void clear();

 private:
  const Console& m_console;
  bool m_shows, m_drawn = false;
};

}  // namespace sagekit::host
