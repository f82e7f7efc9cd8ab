#include "verify/words.hpp"

namespace sagekit {

std::string_view word(Severity severity) {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note: return "note";
  }
  return "error";
}

std::string_view word(FindingResult result) {
  switch (result) {
    case FindingResult::pass: return "pass";
    case FindingResult::fail: return "fail";
    case FindingResult::warn: return "warn";
    case FindingResult::skipped: return "skipped";
    case FindingResult::waived: return "waived";
  }
  return "fail";
}

std::string waiver_words(const Finding& finding) {
  if (finding.result != FindingResult::waived) return {};
  std::string text = finding.until.empty() ? "" : "until " + finding.until;
  if (!finding.reason.empty()) text += (text.empty() ? "" : ": ") + finding.reason;
  return text;
}

}  // namespace sagekit
