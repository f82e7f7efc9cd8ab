#include "render/companion_text.hpp"

#include "render/text.hpp"

#include <fmt/format.h>

namespace sagekit::host {

std::string companion_text(const Console& console, const Companion& companion) {
  const auto line = [](const std::string& text, std::string_view first = "  ") {
    return wrap(text, first, "    ", terminal_width());
  };
  auto text = line(fmt::format("{} is needed beside the wheel {}", console.bold(companion.name), companion.needed), "");
  if (!companion.not_needed.empty()) text += line("not needed: " + companion.not_needed);
  if (!companion.url.empty()) text += line(companion.url + (companion.commit.empty() ? "" : " at " + companion.commit));
  if (!companion.source.empty()) text += console.dim(line("source: " + companion.source));
  return text;
}

}  // namespace sagekit::host
