#include "explain.hpp"

#include "render/finding_pages.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/finding.hpp>

namespace sagekit::host {

int explain_code(Session& session, const std::string& code) {
  const auto pages = explain_finding(code);
  if (!pages) return report(session, pages.error());
  if (session.global.json)
    session.console.document(findings_json(*pages));
  else
    session.console.result(finding_pages_text(session.console, *pages));
  return 0;
}

namespace {

struct ExplainArguments {
  std::string code;
};

void declare(Flags& flags, ExplainArguments& arguments) {
  flags.argument("code", arguments.code, "A code, \"FAT101\"; a family, \"FAT\", lists its codes");
}

int run(Session& session, const ExplainArguments& arguments) { return explain_code(session, arguments.code); }

}  // namespace

std::vector<Verb> explain_verbs() {
  return {make_verb<ExplainArguments>({.name = "explain",
                                       .what = "What a code of a finding or error means, and how to mend it",
                                       .examples = {"sagekit explain FAT101", "sagekit explain ELF --json"},
                                       .exits = {{2, "no such code"}}},
                                      declare, run)};
}

}  // namespace sagekit::host
