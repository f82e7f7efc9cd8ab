#include "render/status_line.hpp"

#include "printable.hpp"
#include "render/text.hpp"

#include <unistd.h>

namespace sagekit::host {

StatusLine::StatusLine(const Console& console, bool ci)
    : m_console(console), m_terminal(!ci && !console.quiet() && isatty(STDERR_FILENO) == 1) {}

void StatusLine::show(const std::string& text) {
  if (!m_terminal) return;
  m_console.draw(cut(one_line(text), terminal_width() - 1));
  m_drawn = true;
}

void StatusLine::clear() {
  if (m_drawn) m_console.draw("");
  m_drawn = false;
}

}  // namespace sagekit::host
