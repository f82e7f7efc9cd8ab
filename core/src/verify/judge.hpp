#pragma once
// All checks in their order: the one way of judging, for staged files and for finished wheels.

#include "verify/policy/judgement.hpp"
#include "verify/runs_on.hpp"
#include "verify/subject.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// What a check may look at.
struct Inquiry {
  const Subject& subject;
  const VerifyOptions& options;
  CommandRunner& runner;
  std::vector<RunsOn>& runs_on;  ///< filled by the last check, from what all others found
};

/// What must be there for a check to have something to look at.
struct Precondition {
  bool (*is_met)(const Inquiry&);
  std::string_view lack;  ///< why its codes are skipped; "" = nobody asks for them then
};

struct Check {
  std::vector<std::string_view> codes;  ///< all that it may say: each gets a verdict
  std::vector<Precondition> needs;
  Status (*run)(const Inquiry&, Judgement&);
};

std::span<const Check> checks();

/// Runs one check. A code of it that it says nothing about passes; without what it needs all are skipped.
Status run_check(const Check& check, const Inquiry& inquiry, Judgement& judgement);

/// Runs every check on the subject. `path` and `sha256` go into the report.
Result<WheelReport> judge(const Subject& subject, Judgement judgement, const VerifyOptions& options,
                          CommandRunner& runner, std::string path, std::string sha256);

}  // namespace sagekit
