#include "console.hpp"

#include "printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace sagekit::host {

namespace {

void to_stderr(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

void Console::result(std::string_view text) const {
  if (!m_quiet) document(printable_with_color(text));
}

void Console::document(std::string_view text) const {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  int whole = 0;
  m_lost.compare_exchange_strong(whole, errno == 0 ? EIO : errno);
}

void Console::say(std::string_view text) const {
  if (!m_quiet) to_stderr(printable_with_color(text) + "\n");
}

void Console::draw(std::string_view text) const {
  const auto below = std::ranges::count(text, '\n');
  to_stderr("\r\x1b[J" + printable_with_color(text) + (below > 0 ? fmt::format("\x1b[{}A", below) : "") + "\r");
}

std::string Console::paint(std::string_view code, std::string_view text) const {
  return m_color ? colored(code, text) : std::string(text);
}

void Console::show(const Error& error) const {
  std::string text =
      red(error.code.empty() ? "error" : fmt::format("error[{}]", error.code)) + ": " + error.message + "\n";
  if (!error.where.empty()) text += fmt::format("  --> {}\n", error.where);
  if (!error.hint.empty()) text += fmt::format("  = {}\n", error.hint);
  to_stderr(printable_with_color(text));
}

void Console::show(const Diagnostic& diagnostic) const {
  const std::string_view name = diagnostic.severity == Severity::error     ? "error"
                                : diagnostic.severity == Severity::warning ? "warning"
                                                                           : "note";
  const std::string label = diagnostic.code.empty() ? std::string(name) : fmt::format("{}[{}]", name, diagnostic.code);
  std::string text =
      (diagnostic.severity == Severity::error ? red(label) : yellow(label)) + ": " + diagnostic.message + "\n";
  const SourceLocation& where = diagnostic.where;
  if (!where.file.empty()) {
    text += "  --> " + where.file;
    if (where.line > 0) text += fmt::format(":{}", where.line);
    if (where.column > 0) text += fmt::format(":{}", where.column);
    text += "\n";
  }
  if (where.line > 0 && !where.text.empty()) {
    const std::string number = std::to_string(where.line);
    text += fmt::format(" {} | {}\n", number, where.text);
    if (where.column > 0) {
      // Tabs stay tabs, so that the caret stands under its column in any terminal.
      std::string space;
      for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(where.column) && i < where.text.size(); ++i)
        if ((static_cast<unsigned char>(where.text[i]) & 0xc0) != 0x80) space += where.text[i] == '\t' ? '\t' : ' ';
      text += fmt::format(" {:{}} | {}{}\n", "", number.size(), space, red("^"));
    }
  }
  if (!diagnostic.hint.empty()) text += fmt::format("  = {}\n", diagnostic.hint);
  to_stderr(printable_with_color(text));
}

void Console::warn(std::string_view message, std::string_view hint) const {
  if (m_quiet) return;
  std::string text = fmt::format("{}: {}\n", yellow("warning"), message);
  if (!hint.empty()) text += fmt::format("  = {}\n", hint);
  to_stderr(printable_with_color(text));
}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::failed: return 1;
    case ErrorKind::usage: return 2;
    case ErrorKind::machine: return 3;
    case ErrorKind::no_match: return 4;
    case ErrorKind::interrupted: return 130;
    case ErrorKind::bug: break;
  }
  return 70;
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(units)) value /= 1000, ++unit;
  if (unit == 0) return fmt::format("{} B", bytes);
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, units[unit]);
}

std::string human_seconds(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace sagekit::host
