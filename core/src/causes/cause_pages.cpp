// Pages of causes, and the document made of all of them.
#include "causes/cause_data.hpp"
#include "causes/conditions.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/causes.hpp>

#include <algorithm>

namespace sagekit {

namespace {

std::string upper(std::string_view text) {
  std::string result = trim(text);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return result;
}

/// Places of facts as the usual, or as a name in capitals: "compute_SM".
std::string usual(std::string_view text) {
  return with_places(text, [](auto name, auto usual) { return usual ? std::string(*usual) : upper(name); });
}

std::string fix_text(const CauseFixRow& fix) {
  std::vector<std::string> conditions;
  for (const auto& condition : fix.when) conditions.push_back(in_words(condition));
  const auto when = conditions.empty() ? std::string() : " (" + join(conditions, ", ") + ")";
  if (fix.command.empty()) return "- " + usual(fix.why) + when + "\n";
  return "- `" + usual(fix.command) + "`" + when + ": " + usual(fix.why) + "\n";
}

std::string body(const CauseRow& row) {
  std::string text;
  if (!row.looks_like.empty()) {
    text += "**Seen.** ";
    for (std::size_t i = 0; i < row.looks_like.size(); ++i) text += (i == 0 ? "`" : ", `") + row.looks_like[i] + "`";
    text += "\n\n";
  }
  if (!row.cause.empty()) text += "**Why.** " + usual(row.cause) + "\n";
  if (!row.means.empty()) text += "\n";
  for (const auto& [name, means] : row.means) text += "- `" + name + "`: " + means + "\n";
  if (!row.is_not.empty()) text += "\n**It is not.** " + usual(row.is_not) + "\n";
  if (!row.fix.empty()) text += "\n**Mend.**\n\n";
  for (const auto& fix : row.fix) text += fix_text(fix);
  if (!row.source.empty()) text += "\n**Source.** " + row.source + "\n";
  return text;
}

std::string weight(const CauseRow& row) {
  switch (row.role) {
    case LineRole::advice: return row.stage + " warning";
    case LineRole::silent: return row.stage + " fault that stops nothing";
    case LineRole::consequence: return "follows from a cause, never is one";
    case LineRole::noise: return "means nothing";
    default: return row.stage + " cause";
  }
}

}  // namespace

std::vector<FindingPage> cause_pages(std::string_view code) {
  const auto wanted = upper(code);
  std::vector<FindingPage> pages;
  for (const auto& row : cause_data().rows)
    if (has_page(row.role) && (row.code == wanted || wanted == "WHY" || contains(row.signatures, wanted)))
      pages.push_back({row.code, usual(row.title), weight(row), body(row)});
  std::ranges::sort(pages, {}, &FindingPage::code);
  return pages;
}

std::string troubleshooting_page() {
  const auto& data = cause_data();
  std::string text =
      "# Troubleshooting\n\n"
      "What people see, why, and what mends it. Written by `sagekit` from core/data/causes: do not edit it here. "
      "`sagekit explain LOG` finds the first cause in a log, `sagekit explain CODE` shows one of these.\n";
  for (const auto& [id, heading] : data.groups) {
    text += "\n## " + heading + "\n";
    for (const auto& row : data.rows)
      if (row.group == id && has_page(row.role))
        text += "\n### " + row.code + " " + usual(row.title) + "\n\n" + body(row);
  }
  return text;
}

}  // namespace sagekit
