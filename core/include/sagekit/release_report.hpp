#pragma once
// A release as one page for people.

#include <sagekit/export.hpp>
#include <sagekit/release.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// A step of the build that made the wheels, when and where it ran.
struct TimelineSpan {
  std::size_t slot = 0;                   ///< one of the steps that ran at a time
  double begin_seconds = 0, seconds = 0;  ///< since the build began
  std::string kind, name, outcome;        ///< "compile", the step's id, "finished"
};

/// Reads what `build --timeline` wrote: Chrome's trace events, those with a duration. Of very many the longest. Error
/// REL026 (failed): it is none.
SAGEKIT_API Result<std::vector<TimelineSpan>> read_timeline(std::string_view text, std::string_view origin);

/// One self-contained HTML page: each wheel against each GPU with the reasons, filters, sizes, findings, the line that
/// installs it, and how the build went where a timeline is given. Nothing is fetched; what wheels say of themselves
/// stays text. A function of its arguments alone.
SAGEKIT_API std::string report_html(const Release& release, const std::vector<TimelineSpan>& timeline = {});

}  // namespace sagekit
