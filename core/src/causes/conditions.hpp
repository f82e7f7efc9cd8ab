#pragma once
// Conditions of rows and placeholders of their texts, against what is known.

#include "causes/cause_data.hpp"

#include <sagekit/causes.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

enum class Holds { yes, no, unknown };

/// Versions as versions, sizes ("26.00 MiB") as sizes, other words as words.
Holds holds(const CauseCondition& condition, const LogFacts& known);
/// no as soon as one does not hold; unknown when one cannot be told.
Holds all_hold(const std::vector<CauseCondition>& conditions, const LogFacts& known);

/// "{cuda|13.0}" becomes what is known as cuda, or 13.0; "{cuda}" nothing when it is not known.
std::string filled(std::string_view text, const LogFacts& known);

/// "120" or "120a" of sm_120a as a capability: "12.0". "" = it is none.
std::string capability_of_sm(std::string_view sm);

}  // namespace sagekit
