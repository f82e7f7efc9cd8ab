#pragma once
// What the store remembers of a step beside its results: what it took, and what its key was made of.

#include "build/step_key.hpp"
#include "store/store.hpp"

#include <sagekit/plan.hpp>

#include <string>

namespace sagekit {

/// By its argv: another source or another compiler has the same history.
std::string history_key(const Step& step);

/// Why a record does not hold whose objects are gone.
constexpr const char* k_lost_outputs = "the store lost what it made";

/// For people: why there is no record that holds. `why`: what the last one that was looked at lacks; "" = there is
/// none, then it is what differs from the last time that this step was made.
std::string why_not_kept(const Store& store, const Step& step, const KeyParts& parts, std::string why);

}  // namespace sagekit
