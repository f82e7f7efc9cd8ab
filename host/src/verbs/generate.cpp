#include "generating.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/generate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

namespace sagekit::host {

namespace {

struct Arguments {
  std::string kind, output = ".";
  bool check = false, force = false;
  SelectionArguments selection;
  GenerateArguments generate;
};

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const auto& kind : generate_kinds()) names.emplace_back(kind.name);
  return names;
}

void declare(Flags& flags, Arguments& arguments) {
  flags.argument("kind", arguments.kind, "What is written").choices = kind_names();
  Flag& output =
      flags.value("-o,--output", "DIR", arguments.output, "Where the files go; - is stdout, for kinds of one file");
  output.preset = "this folder";
  output.may_be_stdout = true;
  flags.on("--check", arguments.check, "Write nothing; end 1 when something would change, and say what");
  flags.on("--force", arguments.force, "Overwrite what was changed by hand");
  declare_generate(flags, arguments.generate);
  declare_cells(flags, arguments.selection);
  declare_store(flags, arguments.selection.tools.store);
  flags.on("--offline", arguments.selection.tools.offline, "sdist: fetch no source");
}

std::string summary(const FileComparison& file, bool check) {
  // Who forced it is told that something of a hand is gone.
  const bool lost = file.change == FileChange::edited && !check;
  const std::string_view word = lost                                 ? "overwrote"
                                : !check                             ? to_string(file.change)
                                : file.change == FileChange::created ? "would create"
                                : file.change == FileChange::updated ? "would update"
                                                                     : "edited";
  auto text = fmt::format("{} {}", word, file.path);
  if (file.lines_added + file.lines_removed > 0)
    text += fmt::format(": +{} -{} lines", file.lines_added, file.lines_removed);
  return text;
}

int to_stdout(const Session& session, const std::string& kind, const Generated& generated) {
  if (generated.files.size() != 1)
    return report(session,
                  {ErrorKind::usage, "CLI001",
                   fmt::format("{} is {} files, and stdout holds one", kind, generated.files.size()), "", "-o DIR"});
  session.console.document(generated.files.front().text);
  for (const auto& file : generated.carried)
    session.console.say(fmt::format("it needs {} beside it: {}", file.path, file.from.string()));
  return 0;
}

int run(Session& session, const Arguments& arguments) {
  if (arguments.check && arguments.force)
    return report(session,
                  {ErrorKind::usage, "CLI001", "--check writes nothing, and --force overwrites", "", "choose one"});
  if (session.global.json && arguments.output == "-")
    return report(session, {ErrorKind::usage, "CLI001", "--json and -o - both want stdout", "", "-o DIR"});
  if (arguments.kind == "sdist") {
    if (arguments.output == "-")
      return report(session, {ErrorKind::usage, "CLI001", "a source distribution is no text for stdout", "", "-o DIR"});
    if (arguments.check || arguments.force)
      return report(session, {ErrorKind::usage, "CLI001", "generate sdist makes nothing of --check and --force", "",
                              "it never overwrites another file"});
    return write_sdist_here(session, arguments.selection, arguments.generate, arguments.output);
  }
  const auto made = generate_files(session, arguments.kind, arguments.selection, arguments.generate);
  if (!made) return report(session, made.error());
  if (arguments.output == "-") return to_stdout(session, arguments.kind, *made);
  const auto changes = arguments.check ? compare_generated(*made, arguments.output)
                                       : write_generated(*made, arguments.output, arguments.force);
  if (!changes) return report(session, changes.error());
  if (session.global.json) session.console.document(generate_json(arguments.kind, *made, *changes));
  for (const auto& note : made->notes) session.console.say(note);
  const bool same =
      std::ranges::all_of(*changes, [](const auto& file) { return file.change == FileChange::unchanged; });
  for (const auto& file : *changes)
    if (!session.global.json && (file.change != FileChange::unchanged || !arguments.check))
      session.console.result(summary(file, arguments.check) + "\n");
  if (!arguments.check || same) return 0;
  const bool edited = std::ranges::any_of(*changes, [](const auto& file) { return file.change == FileChange::edited; });
  session.console.say(edited
                          ? "a hand changed them, or they are not sagekit's: --force instead of --check overwrites that"
                          : "the files are not what the plan says; the same command without --check writes them");
  return exit_code(ErrorKind::failed);
}

}  // namespace

std::vector<Verb> generate_verbs() {
  return {make_verb<Arguments>(
      {.name = "generate",
       .what = "Write a plan down for other engines: containers, workflows, clusters",
       .examples = {"sagekit --plugin sage2 generate dockerfile -o docker",
                    "sagekit --plugin sage3 generate dockerfile --profile sage3-all --base nvidia -o -",
                    "sagekit --plugin sage3 generate dockerfile -o docker --check",
                    "sagekit --plugin sage2 generate sdist -o dist"},
       .exits = {{0, "the files are as the plan says"},
                 {1, "a file was changed by hand or is in the way, or --check found a difference"},
                 {4, "no cell matches the selection, or none can be made that way"}}},
      declare, run)};
}

}  // namespace sagekit::host
