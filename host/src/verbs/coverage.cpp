#include "covering.hpp"
#include "provisioning.hpp"
#include "render/table.hpp"
#include "render/text.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sagekit::host {

namespace {

struct CoverageArguments {
  SelectionArguments selection;
  std::string place;
};

void declare(Flags& flags, CoverageArguments& arguments) {
  flags.argument(
      "place", arguments.place,
      "What is published: a folder of wheels, a sagekit.release.json, or the address of an index or manifest");
  declare_selection(flags, arguments.selection);
}

std::string painted(const Console& console, CoverageState state) {
  const std::string word(to_string(state));
  if (state == CoverageState::published) return console.green(word);
  return state == CoverageState::failing ? console.red(word) : console.yellow(word);
}

int run(Session& session, const CoverageArguments& arguments) {
  const auto plugin = session.plugin();
  if (!plugin) return report(session, plugin.error());
  const auto tools = toolchain_options(session, arguments.selection.tools);
  if (!tools) return report(session, tools.error());
  Request request = make_request(arguments.selection, session);
  request.with_steps = false;
  const auto covered = covered_by(session, *plugin, request, *tools, arguments.place);
  if (!covered) return report(session, covered.error());
  const auto there = std::ranges::count(covered->rows, CoverageState::published, &CoverageRow::state);
  const bool whole = there == std::ssize(covered->rows);
  if (session.global.json) {
    session.console.document(coverage_json(covered->rows, covered->plan));
    return whole ? 0 : 1;
  }
  Rows rows{{"cell", "", "why"}};
  for (const auto& row : covered->rows)
    rows.push_back({row.cell, painted(session.console, row.state),
                    row.state == CoverageState::published ? row.published : row.why});
  session.console.result(table(rows, "  ", terminal_width()));
  session.console.say(fmt::format("{} of {} cells are published", there, covered->rows.size()));
  return whole ? 0 : 1;
}

}  // namespace

std::vector<Verb> coverage_verbs() {
  return {make_verb<CoverageArguments>({.name = "coverage",
                                        .what = "What of a plan is published: missing, from another source, failing",
                                        .examples = {"sagekit --plugin sage3 coverage dist --profile sage3-all",
                                                     "sagekit --plugin sage2 coverage https://example.org/simple"},
                                        .exits = {{0, "every cell is published"},
                                                  {1, "a cell is missing, stale or failing"},
                                                  {4, "no cell matches the selection"}}},
                                       declare, run)};
}

}  // namespace sagekit::host
