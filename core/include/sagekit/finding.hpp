#pragma once
// What each code means: the pages of docs/findings, compiled in. Nothing is parsed until it is asked for.

#include <sagekit/error.hpp>
#include <sagekit/export.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// One code of docs/findings.
struct FindingPage {
  std::string code;    ///< "ELF003"
  std::string title;   ///< what holds when it passes, or what is wrong; one line
  std::string weight;  ///< "own error · others warning · pypi warning", "read error"; "" = it stops a command
  std::string text;    ///< Markdown: what, why, how to mend it, source
  bool operator==(const FindingPage&) const = default;
};

/// Every code of a family, in order; of all families with "". An unknown family has none.
SAGEKIT_API std::vector<FindingPage> finding_pages(std::string_view family = {});

/// The page of a code, or all of a family. Upper or lower case. Error VFY009 (usage) with the nearest.
SAGEKIT_API Result<std::vector<FindingPage>> explain_finding(std::string_view code_or_family);

/// {"schema":"sagekit.finding/1","findings":[{"code","title","weight","text"}]}
SAGEKIT_API std::string findings_json(const std::vector<FindingPage>& pages);

}  // namespace sagekit
