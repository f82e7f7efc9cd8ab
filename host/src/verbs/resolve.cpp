#include "interrupt.hpp"
#include "resolving.hpp"
#include "verb.hpp"

#include <algorithm>

namespace sagekit::host {

namespace {

struct ResolveArguments {
  ResolvingArguments resolving;
  bool all = false, names_only = false;
};

void declare(Flags& flags, ResolveArguments& arguments) {
  declare_resolving(flags, arguments.resolving, true);
  declare_place(flags, arguments.resolving);
  flags.on("--names-only", arguments.names_only, "Judge by names and pages alone; look into no file");
  flags.on("--all", arguments.all, "List every wheel that does not fit");
}

/// For who asks on a machine without a GPU about one that has it.
std::string other_machine(const Resolution& resolution) {
  const bool has_none = resolution.target.gpus && resolution.target.gpus->empty();
  const bool refused = std::ranges::find(resolution.refused, "RES107", &Judged::code) != resolution.refused.end();
  return resolution.fits.empty() && has_none && refused ? "Another machine's GPU is named with --for gpu=NAME.\n" : "";
}

int run(Session& session, const ResolveArguments& given) {
  ResolveArguments arguments = given;
  if (const auto one = take_place(arguments.resolving); !one) return report(session, one.error());
  if (arguments.resolving.from.empty())
    return report(session, {ErrorKind::usage, "CLI001", "resolve needs to know where the wheels are", "",
                            "--from dist, --from https://example.org/simple; see sagekit resolve --help"});
  const auto stop = stop_on_signals();
  const auto target = chosen_target(session, arguments.resolving);
  if (!target) return report(session, target.error());
  auto resolving = make_resolving(session, arguments.resolving);
  if (!resolving) return report(session, resolving.error());
  (*resolving)->options.read_files = !arguments.names_only;
  const auto resolution = resolve_wheels(session, arguments.resolving, *target, **resolving, stop);
  if (!resolution) return report(session, resolution.error());
  if (session.global.json)
    session.console.document(resolve_json(*resolution));
  else
    session.console.result(resolution_text(session.console, *resolution, arguments.all) + other_machine(*resolution));
  return resolution->fits.empty() ? exit_code(ErrorKind::no_match) : 0;
}

}  // namespace

std::vector<Verb> resolve_verbs() {
  return {make_verb<ResolveArguments>(
      {.name = "resolve",
       .what = "Which wheel of a set runs on a machine, and why each other does not",
       .examples = {"sagekit resolve --from dist",
                    "sagekit resolve --from dist --for 'gpu=RTX 5090,torch=2.9.1+cu130,python=3.12,platform=win_amd64'",
                    "sagekit resolve their.whl --interpreter .venv/bin/python",
                    "sagekit resolve --package sageattention --from https://example.org/simple --json"},
       .exits = {{0, "a wheel fits"}, {1, "the set cannot be read"}, {4, "no wheel fits, as far as is known"}}},
      declare, run)};
}

}  // namespace sagekit::host
