#pragma once
// The pieces of a judgement: each looks at one thing.

#include "resolve/judge.hpp"

#include <sagekit/version_number.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace sagekit {

inline Ruling refused(std::string code, std::string reason) {
  return {Fit::refused, std::move(code), std::move(reason), {}, {}, true};
}
inline Ruling unknown(std::string code, std::string reason, std::string would_tell) {
  return {Fit::unknown, std::move(code), std::move(reason), std::move(would_tell), {}, true};
}
inline Ruling good(std::string fact = {}) {
  Ruling ruling;
  if (!fact.empty()) ruling.facts.push_back(std::move(fact));
  return ruling;
}

/// Of what its modules tell, and they were not read.
inline std::string needs_file(const Traits& traits) {
  return traits.names_only ? "the file itself tells: leave out --names-only"
                           : "the file itself tells: give it, or an address whose server knows byte ranges";
}

/// What runs it: verify --gpu refuses a package whose cases no loaded plugin has.
inline std::string what_shows(const Traits& traits) {
  return traits.has_cases ? "verify --gpu --interpreter PYTHON on that machine"
                          : "import it and run it on that machine";
}

inline VersionNumber number(std::string_view text) { return parse_version_number(text).value_or(VersionNumber{}); }

Ruling judge_platform(const Traits& traits, const Target& target);
Ruling judge_python(const Traits& traits, const Candidate& candidate, const Target& target);

}  // namespace sagekit
