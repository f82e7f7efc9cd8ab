#include "render/companion_text.hpp"

#include <fmt/format.h>

namespace sagekit::host {

std::string companion_text(const Console& console, const Companion& companion) {
  std::string text = fmt::format("{} is needed beside the wheel {}", console.bold(companion.name), companion.needed);
  if (!companion.not_needed.empty()) text += fmt::format("\n  not needed: {}", companion.not_needed);
  if (!companion.url.empty())
    text += fmt::format("\n  {}{}", companion.url, companion.commit.empty() ? "" : " at " + companion.commit);
  return text + "\n" + (companion.source.empty() ? "" : console.dim("  source: " + companion.source) + "\n");
}

}  // namespace sagekit::host
