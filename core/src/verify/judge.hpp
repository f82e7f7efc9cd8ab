#pragma once
// All checks in their order: the one way of judging, for staged files and for finished wheels.

#include "verify/policy/judgement.hpp"
#include "verify/subject.hpp"

namespace sagekit {

/// Runs every check on the subject. `path` and `sha256` go into the report.
Result<WheelReport> judge(const Subject& subject, Judgement judgement, const VerifyOptions& options,
                          CommandRunner& runner, std::string path, std::string sha256);

}  // namespace sagekit
