#include "causes/in_words.hpp"

#include "support/format.hpp"

namespace sagekit {

std::string mend_of(const FoundCause& cause) {
  if (cause.fix.empty()) return {};
  return cause.fix.front().command.empty() ? cause.fix.front().why : cause.fix.front().command;
}

std::string first_cause_in_words(std::string_view log, const LogFacts& here) {
  const auto explanation = explain_log_text(log, here);
  if (explanation.causes.empty()) return {};
  const auto& cause = explanation.causes.front();
  const auto mend = mend_of(cause);
  const auto when = cause.fix.empty() || cause.fix.front().when.empty() ? "" : " " + cause.fix.front().when;
  return fmt::format("{} (sagekit explain {}){}", cause.title, cause.code,
                     mend.empty() ? "" : "; mend" + when + ": " + mend);
}

}  // namespace sagekit
