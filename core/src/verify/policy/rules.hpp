#pragma once
// What a broken rule weighs, by policy: one table, so that no check decides by itself how bad its finding is.

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

enum class Weight {
  error,  ///< the wheel fails
  warning,
  note,  ///< said, and passes
  off,   ///< not judged under this policy
};

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

}  // namespace sagekit
