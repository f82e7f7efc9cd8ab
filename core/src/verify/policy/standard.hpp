#pragma once
// By what an artifact is judged: a built-in policy, and what a policy file changes of it.

#include "verify/policy/rules.hpp"

#include <sagekit/verify.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct Standard {
  Policy policy = Policy::own;
  const PolicyFile* file = nullptr;  ///< outlives the judgement; null = the policy as it is
  std::string today;                 ///< "2026-11-21"; "" = not known, so that no waiver holds
  std::string wheel;                 ///< file name, for waivers of one wheel
  std::vector<std::string> require;  ///< families

  /// What a broken rule weighs that the policy gives `usual`. A code of the file decides; else its family, which
  /// changes the weight of what counts and switches nothing on.
  Weight weight(std::string_view code, Weight usual) const;
  /// For reports: "own", "others", "pypi", or the file.
  std::string name() const;
};

/// `generator`: of the WHEEL text; wheels of sagekit are `own` where nothing else is asked for. `wheel`: its file name.
/// Errors VFY001, VFY003 (usage).
Result<Standard> choose_standard(const VerifyOptions& options, std::string_view generator, std::string wheel);

}  // namespace sagekit
