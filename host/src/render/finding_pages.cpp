#include "render/finding_pages.hpp"

#include "render/table.hpp"
#include "render/text.hpp"

#include <fmt/format.h>

namespace sagekit::host {

namespace {

/// "**Why.** ..." with the label in bold, and no stars.
std::string without_stars(const Console& console, std::string_view line) {
  std::string text;
  for (bool strong = false; !line.empty(); strong = !strong) {
    const auto end = std::min(line.find("**"), line.size());
    text += strong ? console.bold(line.substr(0, end)) : std::string(line.substr(0, end));
    line.remove_prefix(std::min(end + 2, line.size()));
  }
  return text;
}

std::string page_text(const Console& console, const FindingPage& page) {
  std::string text = console.bold(page.code) + "  " + page.title + "\n";
  if (!page.weight.empty()) text += console.dim(page.weight) + "\n";
  text += "\n";
  for (std::size_t at = 0; at < page.text.size();) {
    const auto end = std::min(page.text.find('\n', at), page.text.size());
    const auto line = std::string_view(page.text).substr(at, end - at);
    const bool prose = !line.starts_with(' ') && !line.starts_with('|');  // else a command or a table: as it is
    const auto shown = without_stars(console, line);
    text += prose ? wrap(shown, "", line.starts_with("- ") ? "  " : "", terminal_width()) : shown + "\n";
    at = end + 1;
  }
  return text;
}

}  // namespace

std::string finding_pages_text(const Console& console, const std::vector<FindingPage>& pages) {
  if (pages.size() == 1) return page_text(console, pages.front());
  Rows rows;
  for (const auto& page : pages) rows.push_back({console.bold(page.code), page.title});
  return table(rows);
}

}  // namespace sagekit::host
