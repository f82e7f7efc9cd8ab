#pragma once
// A wheel's report for people; shared by build, package and verify.

#include "console.hpp"

#include <sagekit/verify.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit::host {

/// How many findings have each result.
struct FindingCounts {
  std::size_t pass = 0, fail = 0, warn = 0, skipped = 0, waived = 0;
};
FindingCounts counts_of(const WheelReport& report);

/// The verdict, what the wheel runs on, then what is wrong, worst first, each fault with its first places. What lists
/// the rest is named as `more` has it, "--all"; "" = all is shown here: passes, every place, every skipped check and
/// every GPU with its reason. A report that is longer than a screen ends with the verdict again.
std::string wheel_report_text(const Console& console, const WheelReport& report, std::string_view more,
                              std::size_t width);

/// One wheel of many: "fail  NAME  1 error; runs on 8.0-9.0".
std::string wheel_line(const Console& console, const WheelReport& report, std::size_t width);

/// After many: how many passed, the names of those that did not, and each waiver with its reason and end. `unjudged`:
/// why some could not be read.
std::string total_text(const Console& console, const std::vector<WheelReport>& reports,
                       const std::vector<Error>& unjudged, std::size_t width);

}  // namespace sagekit::host
