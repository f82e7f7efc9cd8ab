#pragma once
// The first cause of a short text as a hint, and causes as JSON: for those who show a failure of their own.

#include "support/json.hpp"

#include <sagekit/causes.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// "the wheel was built for another torch version (sagekit explain WHY404); mend: COMMAND"; "" = nothing is known.
/// `here`: of the machine that it failed on, which choose the mend.
std::string first_cause_in_words(std::string_view log, const LogFacts& here);

/// The first fix: its command, else what it says to do; "" = there is none.
std::string mend_of(const FoundCause& cause);

Json causes_json(const std::vector<FoundCause>& causes);

}  // namespace sagekit
