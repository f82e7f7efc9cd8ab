#include "render/failed_steps.hpp"

#include "render/cause_text.hpp"
#include "render/table.hpp"
#include "render/text.hpp"

#include <sagekit/shell_word.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace sagekit::host {

namespace {

struct FailedStep {
  const StepFailure* failure;
  std::size_t cells;
};

std::vector<FailedStep> failed_steps(const Build& build) {
  std::vector<FailedStep> steps;
  for (const auto& failure : build.failed) {
    const auto same = std::ranges::find_if(steps, [&](const auto& s) { return s.failure->step == failure.step; });
    if (same == steps.end())
      steps.push_back({&failure, 1});
    else
      ++same->cells;
  }
  return steps;
}

std::string who(const FailedStep& step) {
  const auto more = step.cells > 1 ? fmt::format(" and {} more", step.cells - 1) : std::string();
  return fmt::format("step {} of {}{}", step.failure->step, step.failure->cell, more);
}

/// Why, and what mends it, first; where the log is second.
void show(const Console& console, const FailedStep& step, const StepCauses& causes) {
  const auto& failure = *step.failure;
  if (const auto known = causes.find(failure.step); known != causes.end())
    console.say(cause_text(console, known->second.front()));
  if (failure.argv.empty()) {  // nothing was run, for --require-hits
    console.show(Error{ErrorKind::failed, "BLD001", fmt::format("{}: {}", who(step), failure.cause), "",
                       "sagekit cache import PACK of the job that made it, or name its store with --store-from"});
    return;
  }
  console.show(Error{ErrorKind::failed, "BLD001",
                     fmt::format("{} failed with exit code {}:\n\n{}\n", who(step), failure.exit_code, failure.cause),
                     failure.log.string(),
                     fmt::format("rerun it with: cd {} && {}", shell_word(failure.working_directory.string()),
                                 shell_line(failure.argv))});
}

/// A cause that is known by its code; else the first line that says error, else the last one.
std::string first_cause(const StepFailure& failure, const StepCauses& causes) {
  if (const auto known = causes.find(failure.step); known != causes.end())
    return known->second.front().code + "  " + known->second.front().title;
  std::istringstream lines(failure.cause);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos || line.find("Error") != std::string::npos) return line;
    if (!line.empty()) last = line;
  }
  return last.empty() ? fmt::format("exit code {}", failure.exit_code) : last;
}

}  // namespace

void show_failed_steps(const Console& console, const Build& build, const StepCauses& causes) {
  const auto steps = failed_steps(build);
  for (const auto& step : steps) show(console, step, causes);
  if (steps.size() < 2) return;
  Rows rows{{"step", "cells", "first cause"}};
  for (const auto& step : steps)
    rows.push_back({step.failure->step, std::to_string(step.cells), first_cause(*step.failure, causes)});
  console.say(fmt::format("{} steps failed\n{}", steps.size(), table(rows, "  ", terminal_width())));
}

}  // namespace sagekit::host
