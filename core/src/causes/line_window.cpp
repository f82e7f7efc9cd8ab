#include "causes/line_window.hpp"

namespace sagekit {

void LineWindow::start(std::string_view text, std::size_t from) {
  m_text = text;
  m_next = from;
  m_count = 0;
}

LineWindow::Line* LineWindow::at(std::size_t number) {
  while (m_count <= number) {
    if (m_next >= m_text.size()) return nullptr;
    auto& line = m_lines[(m_first + m_count) % k_lines];
    line.begin = m_next;
    line.words.clear();
    line.plain.reset();
    line.end = m_matcher.read_line(m_text, m_next, line.words);
    m_next = line.end + 1;
    ++m_count;
  }
  return &m_lines[(m_first + number) % k_lines];
}

void LineWindow::step() {
  m_first = (m_first + 1) % k_lines;
  --m_count;
}

}  // namespace sagekit
