#pragma once
// By what an artifact is judged: what a broken rule weighs, by policy, and what a policy file changes of it.

#include <sagekit/diagnostic.hpp>
#include <sagekit/error.hpp>
#include <sagekit/verify.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// Who made the wheel and where it goes. `own`: made here, everything counts. `others`: anyone's, only what breaks for
/// a user is an error. `pypi`: what the public index refuses is an error.
enum class Policy { own, others, pypi };

/// "own", "others", "pypi". Error VFY001 (usage) with the nearest right word.
Result<Policy> parse_policy(std::string_view text);

struct Rule {
  std::string_view code;
  Weight own, others, pypi;
  std::string_view meaning;  ///< what holds when it passes

  Weight weight(Policy policy) const;
};

/// All rules of this room, sorted by code (docs/findings has a paragraph for each).
std::span<const Rule> finding_rules();
/// nullptr for codes of other rooms (ZIP, INF0, NAM0, FAT0) and of plugins.
const Rule* find_rule(std::string_view code);

/// "NAM" of "NAM101": the letters in front.
std::string_view family(std::string_view code);
/// Families of checks, sorted: what --require may name.
std::vector<std::string> judged_families();

struct EffectivePolicy {
  Policy base = Policy::own;
  const PolicyFile* file = nullptr;  ///< outlives the findings; null = the policy as it is
  std::string today;                 ///< "2026-11-21"; "" = not known, so that no waiver holds
  std::string wheel;                 ///< file name, for waivers of one wheel
  std::vector<std::string> require;  ///< families
  bool waives = true;                ///< false: a waiver is needed and does not hold, for it would make a wheel of it

  /// What a broken rule weighs that the policy gives `usual`. A code of the file decides; else its family, which
  /// changes the weight of what counts and switches nothing on.
  Weight weight(std::string_view code, Weight usual) const;
  /// For reports: "own", "others", "pypi", or the file.
  std::string name() const;
};

/// `generator`: of the WHEEL text; wheels of sagekit are `own` where nothing else is asked for. `wheel`: its file name.
/// Errors VFY001, VFY003 (usage).
Result<EffectivePolicy> effective_policy(const VerifyOptions& options, std::string_view generator, std::string wheel);

}  // namespace sagekit
