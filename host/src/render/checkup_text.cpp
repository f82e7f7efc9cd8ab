#include "render/checkup_text.hpp"

#include "printable.hpp"
#include "render/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sagekit::host {

namespace {

std::string state_text(const Console& console, CheckupState state) {
  const auto word = fmt::format("{:<7}", to_string(state));
  switch (state) {
    case CheckupState::good: return console.green(word);
    case CheckupState::note: return console.dim(word);
    case CheckupState::warning:
    case CheckupState::unknown: return console.yellow(word);
    case CheckupState::wrong: break;
  }
  return console.red(word);
}

std::string row_text(const Console& console, const CheckupRow& row, std::size_t width) {
  const std::string rest(10, ' ');
  std::string text = wrap(fmt::format("{}: {}", one_line(row.what), one_line(row.found)),
                          state_text(console, row.state) + "   ", rest, width);
  if (row.state == CheckupState::good) return text;
  if (!row.why.empty())
    text += wrap(one_line(row.why) + (row.code.empty() ? "" : fmt::format(" (sagekit explain {})", row.code)),
                 rest + console.dim("why  "), rest + "     ", width);
  // A command is there to be copied: never wrapped.
  if (!row.mend.empty()) text += rest + console.dim("mend ") + one_line(row.mend) + "\n";
  return text;
}

}  // namespace

std::string checkup_text(const Console& console, const Checkup& checkup) {
  std::string text;
  for (const auto& row : checkup.rows) text += row_text(console, row, terminal_width());
  const auto wrong =
      static_cast<std::size_t>(std::ranges::count(checkup.rows, CheckupState::wrong, &CheckupRow::state));
  if (wrong == 0) return text + "\nNothing is wrong.\n";
  return text + fmt::format("\n{}. The first is where to begin; --report writes what was found for a bug report.\n",
                            counted(wrong, "thing is wrong", "things are wrong"));
}

}  // namespace sagekit::host
