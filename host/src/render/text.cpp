#include "render/text.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace sagekit::host {

namespace {

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

/// Bytes of what stands at `at` and takes no room or one column: a colour code, or a character.
std::size_t unit_at(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  if (text[at] == '\x1b') {
    while (end < text.size() && text[end - 1] != 'm') ++end;
    return end - at;
  }
  while (end < text.size() && continues(text[end])) ++end;
  return end - at;
}

winsize terminal_size() {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    winsize size{};
    if (ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size;
  }
  return {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
}

}  // namespace

std::size_t terminal_width() { return std::max<std::size_t>(terminal_size().ws_col, 40); }

std::size_t terminal_height() { return terminal_size().ws_row; }

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size(); at += unit_at(text, at)) columns += text[at] != '\x1b';
  return columns;
}

std::string wrap(std::string_view text, std::string_view first, std::string_view rest, std::size_t width) {
  std::string lines;
  std::string line(first);
  std::size_t columns = display_width(first);
  bool empty = true;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find_first_of(" \n", at), text.size());
    const auto word = text.substr(at, end - at);
    const auto more = display_width(word);
    if (!empty && columns + 1 + more > width) {
      line.erase(line.find_last_not_of(' ') + 1);
      lines += line + "\n";
      line = rest;
      columns = display_width(rest);
      empty = true;
    }
    // Blanks in a row separate columns; at the beginning of a line they mean nothing.
    if (!empty) line += ' ', ++columns;
    line += word;
    columns += more;
    empty = empty && word.empty();
    at = end + 1;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return lines + line + "\n";
}

std::string cut(std::string_view text, std::size_t width) {
  std::string result;
  std::size_t columns = 0;
  for (std::size_t at = 0, size = 0; at < text.size(); at += size) {
    size = unit_at(text, at);
    if (text[at] == '\x1b' || ++columns <= width) result += text.substr(at, size);
  }
  return result;
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace sagekit::host
