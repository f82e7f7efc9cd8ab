#pragma once
// The words that outputs have for severities and results.

#include <sagekit/verify.hpp>

#include <string>
#include <string_view>

namespace sagekit {

std::string_view word(Severity severity);     ///< "error", "warning", "note"
std::string_view word(FindingResult result);  ///< "pass", "fail", "warn", "skipped", "waived"
/// "until 2026-12-31: reason"; "" = not waived.
std::string waiver_words(const Finding& finding);

}  // namespace sagekit
