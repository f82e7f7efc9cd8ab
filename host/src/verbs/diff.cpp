#include "render/diff_text.hpp"
#include "render/text.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/diff.hpp>

#include <fmt/format.h>

#include <cstdint>

namespace sagekit::host {

namespace {

struct DiffArguments {
  std::string first, second;
  bool exit_code = false;
};

void declare(Flags& flags, DiffArguments& arguments) {
  flags.argument("first", arguments.first, "The older one: a wheel, or a module");
  flags.argument("second", arguments.second, "The newer one");
  flags.on("--exit-code", arguments.exit_code, "End 1 when anything differs, as git diff does");
}

int run(Session& session, const DiffArguments& arguments) {
  const InspectOptions options{.kernels = true, .resources = true};
  const auto before = inspect_file(arguments.first, options);
  const auto after = inspect_file(arguments.second, options);
  int code = 0;
  for (const auto* facts : {&before, &after})
    if (!*facts) code = std::max(code, report(session, facts->error()));
  if (code != 0) return code;
  const auto diff = diff_files(*before, *after);
  if (session.global.json)
    session.console.document(diff_json(diff));
  else
    session.console.result(diff_text(session.console, diff, terminal_width()));
  for (const auto* damage : {&diff.before_damage, &diff.after_damage})
    for (const auto& one : *damage) session.console.show(one);
  return arguments.exit_code && !diff.identical ? 1 : 0;
}

}  // namespace

std::vector<Verb> diff_verbs() {
  return {make_verb<DiffArguments>(
      {.name = "diff",
       .what = "What changed between two wheels",
       .examples = {"sagekit diff old/demo-1.0-cp312-cp312-linux_x86_64.whl new/demo-1.1-cp312-cp312-linux_x86_64.whl",
                    "sagekit diff --json old.whl new.whl", "sagekit diff --exit-code dist/demo.whl again/demo.whl"},
       .exits = {{0, "compared, whatever differs; with --exit-code: the same bytes"},
                 {1, "a file that is readable is no wheel or module; with --exit-code: something differs"}}},
      declare, run)};
}

}  // namespace sagekit::host
