#include "render/status_line.hpp"

#include "render/text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace sagekit::host {

StatusLine::StatusLine(const Console& console, bool ci)
    : m_terminal(!ci && !console.quiet() && isatty(STDERR_FILENO) == 1) {}

void StatusLine::show(const std::string& text) {
  if (!m_terminal) return;
  fmt::print(stderr, "\r\x1b[K{}", cut(printable(text), terminal_width() - 1));
  std::fflush(stderr);
  m_drawn = true;
}

void StatusLine::clear() {
  if (m_drawn) fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  m_drawn = false;
}

}  // namespace sagekit::host
