#include "json_text.hpp"
#include "provisioning.hpp"
#include "render/table.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/plan.hpp>
#include <sagekit/toolchain.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace sagekit::host {

namespace {

struct DoctorArguments {
  SelectionArguments selection;
};

void declare(Flags& flags, DoctorArguments& arguments) { declare_selection(flags, arguments.selection); }

enum class State { here, comes, lacking };  ///< `comes`: build fetches it

struct Part {
  std::string what;  ///< "nvcc 13.0"
  State state = State::here;
  std::string found;  ///< what and where, or why not
  std::string mend;   ///< the one command
};

template <class Tool>
Part part(std::string what, const Result<Tool>& tool, const std::function<std::string(const Tool&)>& say) {
  if (tool) return {std::move(what), State::here, say(*tool), ""};
  return {std::move(what), State::lacking, tool.error().message, tool.error().hint};
}

/// What the sources of the command would bring is not lacking.
void may_come(Part& part, const Sources& sources, TreeKind kind, const Cell& cell, const std::string& command) {
  if (part.state != State::lacking || !comes_with_build(sources, kind, cell.cuda)) return;
  part.state = State::comes;
  part.found = "not here; build fetches it from the package index";
  part.mend = command;
}

std::vector<Part> parts_of(const Cell& cell, const Spec& spec, const Environment& environment, const Sources& sources) {
  const ToolchainNeed need{cell.cuda, cell.torch, cell.python, cell.platform, cell.gencode};
  std::vector<Part> parts;
  const auto nvcc = choose_nvcc(need, environment);
  parts.push_back(part<Nvcc>("nvcc " + cell.cuda, nvcc,
                             [](const Nvcc& n) { return fmt::format("{} {}", n.version, n.executable.string()); }));
  const auto fetch = "sagekit toolchain fetch --cuda " + cell.cuda;
  may_come(parts.back(), sources, TreeKind::nvcc, cell, fetch);
  auto compiler_need = need;
  if (!nvcc) compiler_need.cuda.clear();  // which compilers it accepts is known when it is here
  parts.push_back(part<HostCompiler>(
      "C++ compiler", choose_host_compiler(compiler_need, nvcc.value_or(Nvcc{}), environment),
      [](const HostCompiler& c) { return fmt::format("{} {} {}", c.kind, c.version, c.executable.string()); }));
  if (!cell.torch.empty()) {
    parts.push_back(part<TorchSysroot>("torch " + cell.torch, choose_torch(need, {}, environment),
                                       [](const TorchSysroot& t) { return t.root.string(); }));
    may_come(parts.back(), sources, TreeKind::torch, cell,
             fmt::format("{} --torch {}{}{}", fetch, cell.torch,
                         cell.platform == environment.platform ? "" : " --platform " + cell.platform,
                         nvcc ? " --no-nvcc" : ""));
  }
  if (!std::ranges::all_of(spec.kernels, &KernelSpec::plain_module))
    parts.push_back(part<Python>("Python " + cell.python + " headers", choose_python(need, environment),
                                 [](const Python& p) { return p.include_dirs.front().string(); }));
  return parts;
}

std::string_view word(State state) {
  return state == State::here ? "here" : state == State::comes ? "comes" : "lacking";
}

std::string json_row(const Cell& cell, const std::vector<Part>& parts) {
  std::string rows;
  for (const auto& item : parts)
    rows += fmt::format("{}{{\"what\":{},\"state\":\"{}\",\"found\":{},\"mend\":{}}}", rows.empty() ? "" : ",",
                        json_string(item.what), word(item.state), json_string(item.found), json_string(item.mend));
  return fmt::format("    {{\"cell\":{},\"parts\":[{}]}}", json_string(cell.id), rows);
}

std::string people_text(const Console& console, const Cell& cell, const std::vector<Part>& parts) {
  Rows rows;
  for (const auto& item : parts) {
    const auto state = item.state == State::here    ? console.green("here")
                       : item.state == State::comes ? console.yellow("comes")
                                                    : console.red("lacking");
    rows.push_back({item.what, state, item.found});
    if (!item.mend.empty()) rows.push_back({"", "", "mend: " + item.mend});
  }
  return console.bold(cell.id) + "\n" + table(rows);
}

int run(Session& session, const DoctorArguments& arguments) {
  auto plugin = session.plugin();
  if (!plugin) return report(session, plugin.error());
  const auto sources = read_sources(arguments.selection.tools);
  if (!sources) return report(session, sources.error());
  auto environment = session.environment(arguments.selection.tools);
  if (!environment) return report(session, environment.error());
  auto request = make_request(arguments.selection, session.settings);
  request.with_steps = false;
  const auto plan = make_plan(plugin->spec(), request, *environment);
  if (!plan) return report(session, plan.error());

  bool lacking = false;
  std::vector<std::string> rows;
  std::string text;
  for (const auto& cell : plan->cells) {
    const auto parts = parts_of(cell, plugin->spec(), *environment, *sources);
    lacking = lacking || std::ranges::any_of(parts, [](const Part& p) { return p.state == State::lacking; });
    rows.push_back(json_row(cell, parts));
    text += people_text(session.console, cell, parts);
  }
  text += lacking ? "\nThis machine cannot build all of it yet: run what stands after \"mend:\".\n"
                  : "\nThis machine can build it: run the same command with build instead of doctor.\n";
  session.console.result(session.global.json ? json_document("sagekit.doctor/1", "cells", rows) : text);
  return lacking ? exit_code(ErrorKind::machine) : 0;
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
