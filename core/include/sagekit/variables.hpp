#pragma once
// Environment variables that people set around a build, and what sagekit makes of them (core/data/variables.toml). Core
// reads none: whoever does asks here what each is for.

#include <sagekit/diagnostic.hpp>
#include <sagekit/export.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct KnownVariable {
  std::string name;     ///< "EXT_PARALLEL"
  std::string effect;   ///< what it does here; "" = nothing
  std::string why_not;  ///< why no wheel depends on it; "" = it has an effect
  std::string instead;  ///< what has the effect that was hoped for; {value} stands for the variable's
  std::string source;
  bool ambient = false;  ///< images and shells set it, not a person: not worth a line in every build
};

/// In the order of the table.
SAGEKIT_API const std::vector<KnownVariable>& known_variables();
/// "EXT_PARALLEL=2 does nothing here: ...; use ..." A value that is long or has control characters is left out. "" for
/// a variable that has an effect and no `why_not`.
SAGEKIT_API std::string variable_answer(const KnownVariable& variable, std::string_view value);
/// What is wrong with the table itself; a test holds it empty.
SAGEKIT_API const Diagnostics& known_variable_problems();

}  // namespace sagekit
