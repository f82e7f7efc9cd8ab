#include "render/status_line.hpp"

#include "printable.hpp"
#include "render/text.hpp"

namespace sagekit::host {

void StatusLine::show(const std::string& text) {
  if (!m_shows) return;
  m_console.draw(cut(one_line(text), terminal_width() - 1));
  m_drawn = true;
}

void StatusLine::clear() {
  if (m_drawn) m_console.draw("");
  m_drawn = false;
}

}  // namespace sagekit::host
