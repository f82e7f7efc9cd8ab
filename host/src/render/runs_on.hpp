#pragma once
// "Which GPUs does this wheel run on", for people: equal rows folded, GPUs by the names on their boxes.

#include "console.hpp"

#include <sagekit/verify.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace sagekit::host {

/// Rows that say the same, from one capability to another.
struct GpuRange {
  Capability first, last;
  RunVerdict verdict = RunVerdict::no;
  std::vector<std::string> gpus;  ///< the best known ones
  std::string reason;             ///< "" for a verdict that needs none
};

/// Neighbours with one verdict are one range; those that do not run everything only when the reason is the same, too.
std::vector<GpuRange> folded(const std::vector<RunsOn>& rows);

/// The table, a line on what each verdict means that is not plain, and the driver that the code needs. `each`: a line
/// for every capability, with the reason. "" when nothing is known of GPUs.
std::string runs_on_text(const Console& console, const std::vector<RunsOn>& rows, bool each, std::size_t width);

/// In a few words: "8.0-9.0, 12.0 jit"; "no GPU"; "" when there is no table.
std::string runs_on_words(const std::vector<RunsOn>& rows);

/// "Linux 580 or newer", "Windows 528.33 or newer; 10.0-12.1: 570.65 or newer"; "" when it is not known.
std::string driver_words(const std::vector<RunsOn>& rows);

/// What a verdict means that is neither yes nor no, in a sentence; "" for those.
std::string verdict_meaning(RunVerdict verdict);

/// "8.0-8.9", "9.0".
std::string range_words(Capability first, Capability last);

}  // namespace sagekit::host
