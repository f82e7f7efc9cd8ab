#include "printable.hpp"
#include "provisioning.hpp"
#include "render/companion_text.hpp"
#include "render/table.hpp"
#include "render/text.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/doctor.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sagekit::host {

namespace {

struct DoctorArguments {
  SelectionArguments selection;
};

void declare(Flags& flags, DoctorArguments& arguments) { declare_selection(flags, arguments.selection); }

std::string cell_text(const Console& console, const CellDiagnosis& cell) {
  Rows rows;
  for (const auto& part : cell.parts) {
    const auto state = part.state == PartState::here        ? console.green("here")
                       : part.state == PartState::fetchable ? console.yellow("comes")
                                                            : console.red("lacking");
    rows.push_back({part.what, state, part.found});
    if (part.mend.empty()) continue;
    rows.push_back({"", "", (part.kind == PartKind::platform ? "" : "mend: ") + part.mend});
  }
  std::string text = console.bold(cell.cell) + "\n" + table(rows, "  ", terminal_width());
  for (const auto& note : cell.notes)
    text += wrap(printable(note), fmt::format("  {} ", console.dim("note")), "       ", terminal_width());
  return text;
}

std::string text_of(const Console& console, const Diagnosis& diagnosis) {
  std::string text;
  for (const auto& cell : diagnosis.cells) text += cell_text(console, cell);
  for (const auto& companion : diagnosis.companions) text += "\n" + companion_text(console, companion);
  if (!diagnosis.lacking())
    return text + "\nThis machine can build it: run the same command with build instead of doctor.\n";
  const bool mendable = std::ranges::any_of(diagnosis.cells, [](const CellDiagnosis& cell) {
    return std::ranges::any_of(cell.parts, [](const ToolchainPart& part) {
      return part.state == PartState::lacking && part.kind != PartKind::platform;
    });
  });
  if (mendable) return text + "\nThis machine cannot build all of it yet: run what stands after \"mend:\".\n";
  return text + "\nThis machine cannot build all of it.\n";
}

int run(Session& session, const DoctorArguments& arguments) {
  auto plugin = session.plugin();
  if (!plugin) return report(session, plugin.error());
  const auto options = toolchain_options(session, arguments.selection.tools);
  if (!options) return report(session, options.error());
  auto request = make_request(arguments.selection, session);
  request.with_steps = false;
  const auto machine =
      plan_here(plugin->spec(), request, {plugin->path().string(), plugin->sha256()}, *options, *session.runner);
  if (!machine) return report(session, machine.error());
  show_diagnostics(session, machine->plan);
  const auto diagnosis = diagnose(plugin->spec(), *machine, *options);
  if (session.global.json)
    session.console.document(diagnosis_json(diagnosis));
  else
    session.console.result(text_of(session.console, diagnosis));
  return diagnosis.lacking() ? exit_code(ErrorKind::machine) : 0;
}

}  // namespace

std::vector<Verb> doctor_verbs() {
  return {make_verb<DoctorArguments>(
      {.name = "doctor",
       .what = "What this machine lacks for a cell, and the command that mends it",
       .examples = {"sagekit --plugin sage2 doctor", "sagekit --plugin sage2 doctor --python 3.13"},
       .exits = {{0, "it can build every selected cell, or build fetches what is missing"},
                 {3, "something is lacking that has to be installed"},
                 {4, "no cell matches the selection"}}},
      declare, run)};
}

}  // namespace sagekit::host
