#include "render/cause_text.hpp"

#include "printable.hpp"
#include "render/text.hpp"

#include <fmt/format.h>

namespace sagekit::host {

namespace {

std::string place_text(const LogPlace& place) {
  return fmt::format("line {}: {}\n", place.line, printable(place.text));
}

std::string paragraph(const Console& console, std::string_view label, std::string_view text) {
  if (text.empty()) return {};
  const std::string first = fmt::format("  {}  ", console.bold(label));
  return wrap(printable(text), first, std::string(4 + label.size(), ' '), terminal_width());
}

std::string fixes_text(const Console& console, const std::vector<CauseFix>& fixes) {
  std::string text;
  for (const auto& fix : fixes) {
    const auto when = fix.when.empty() ? std::string() : fix.when + ": ";
    text += paragraph(console, text.empty() ? "Mend" : "  or", when + fix.why);
    if (!fix.command.empty()) text += "          " + console.green(printable(fix.command)) + "\n";
  }
  return text;
}

std::string seen_text(const Console& console, const Explanation& explanation) {
  std::string text;
  for (const auto& one : explanation.seen)
    text += "  " + console.dim(one.code) + "  " + printable(one.title) + ", " + place_text(one.where);
  return text;
}

std::string nothing_text(const Console& console, const Explanation& explanation) {
  if (explanation.ending == LogEnding::well && explanation.seen.empty())
    return "The log ends well: nothing in it failed.\n";
  // A program that comes up says nothing of a plugin that did not load.
  if (explanation.ending == LogEnding::well)
    return "The log ends well, and no cause of a failure that is known stands in it. It also says:\n" +
           seen_text(console, explanation);
  if (explanation.lines == 0)
    return "The log is empty. In a pipe, errors come along with 2>&1: pip install -v ... 2>&1 | sagekit explain -\n";
  std::string text = "No cause that is known stands in this log.\n";
  if (!explanation.seen.empty() && explanation.likeliest.empty())
    text +=
        "It holds what only says that something failed: keep the whole log (pip install -v ... 2>&1 | tee "
        "build.log).\n";
  text += seen_text(console, explanation);
  if (!explanation.likeliest.empty()) text += "The likeliest lines:\n";
  for (const auto& place : explanation.likeliest) text += "  " + place_text(place);
  return text;
}

}  // namespace

std::string cause_text(const Console& console, const FoundCause& cause) {
  std::string text =
      console.red(cause.code) + "  " + console.bold(printable(cause.title)) + "\n  " + place_text(cause.where);
  text += paragraph(console, "Why ", cause.cause);
  text += paragraph(console, "Not ", cause.is_not);
  text += fixes_text(console, cause.fix);
  for (std::size_t i = 0; i < cause.follows_from.size(); ++i) {
    const auto& one = cause.follows_from[i];
    text += fmt::format("  {}  {} {}, line {}\n", i == 0 ? console.bold("Then") : "    ", one.code,
                        printable(one.title), one.where.line);
  }
  if (cause.confidence != "high")
    text +=
        paragraph(console, "Sure", cause.confidence == "low" ? "hardly: see whether it fits" : "likely, not certain");
  return text;
}

std::string explanation_text(const Console& console, const Explanation& explanation) {
  if (explanation.causes.empty()) return nothing_text(console, explanation);
  std::string text = cause_text(console, explanation.causes.front());
  if (explanation.causes.size() > 1) text += "\nBeside it, by itself:\n";
  for (std::size_t i = 1; i < explanation.causes.size(); ++i)
    text += "  " + explanation.causes[i].code + "  " + printable(explanation.causes[i].title) + ", " +
            place_text(explanation.causes[i].where);
  return text;
}

}  // namespace sagekit::host
