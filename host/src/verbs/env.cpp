#include "render/table.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/environment.hpp>
#include <sagekit/toolchain.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sagekit::host {

namespace {

struct EnvArguments {
  ToolchainArguments tools;
};

void declare(Flags& flags, EnvArguments& arguments) { declare_toolchains(flags, arguments.tools); }

std::string state(const Console& console, bool ready, const std::string& why_not) {
  return ready ? console.green("ready") : console.yellow(why_not);
}

void show_toolchains(const Console& console, const Environment& environment) {
  Rows nvcc{{"CUDA compilers", "", "", ""}}, host{{"Host compilers", "", "", ""}}, python{{"Pythons", "", "", ""}},
      torch{{"Torches", "", "", ""}};
  for (const auto& row : environment.nvcc)
    nvcc.push_back(
        {"nvcc " + row.version, "CUDA " + row.cuda, row.executable.string(), state(console, row.ready, row.why_not)});
  for (const auto& row : environment.host_compilers)
    host.push_back({fmt::format("{} {}", to_string(row.kind), row.version), row.target, row.executable.string(),
                    state(console, row.ready, row.why_not)});
  for (const auto& row : environment.pythons)
    python.push_back({"Python " + row.version, row.abi,
                      row.executable.empty() && !row.include_dirs.empty() ? row.include_dirs.front().string()
                                                                          : row.executable.string(),
                      state(console, row.ready, row.why_not)});
  for (const auto& row : environment.torches)
    torch.push_back({"torch " + row.version + (row.local.empty() ? "" : "+" + row.local), row.platform,
                     row.root.string(), state(console, row.ready, row.why_not)});
  std::string text;
  for (auto* rows : {&nvcc, &host, &python, &torch}) {
    const std::string title = rows->front().front();
    rows->erase(rows->begin());
    text += console.bold(title) + "\n" + (rows->empty() ? "  none found\n" : table(*rows));
  }
  console.result(text);
}

// Each nvcc that works: the plain archs it compiles, and the host compilers it takes, by the CPU they are for.
void show_what_can_be_built(const Console& console, const Environment& environment) {
  Rows rows;
  for (const auto& nvcc : environment.nvcc) {
    if (!nvcc.ready) continue;
    std::vector<std::string> arches, compilers;
    for (const auto& arch : nvcc.code) arches.push_back(to_string(arch.capability));
    for (const auto& compiler : environment.host_compilers)
      if (compiler.ready && accepts(nvcc, compiler))
        compilers.push_back(fmt::format("{} {} for {}", to_string(compiler.kind), compiler.version,
                                        compiler.target.substr(0, compiler.target.find('-'))));
    rows.push_back(
        {"nvcc " + nvcc.version, fmt::format("{}", fmt::join(arches, " ")),
         compilers.empty() ? "no host compiler here that it takes" : fmt::format("{}", fmt::join(compilers, ", "))});
  }
  if (!rows.empty())
    console.result(console.bold("What they can build: architectures, with which host compilers") + "\n" + table(rows));
}

int show(Session& session, ToolchainArguments tools, bool only_toolchains) {
  tools.lock.clear();  // what is there, whatever a lock says of its use
  const auto environment = session.environment(tools);
  if (!environment) return report(session, environment.error());
  const Console& console = session.console;
  if (session.global.json) {
    console.document(only_toolchains ? toolchains_json(*environment) : environment_json(*environment));
    return 0;
  }
  if (!only_toolchains) {
    std::string text = fmt::format("{}, glibc {}, {} CPUs, {} of memory\n", environment->platform, environment->glibc,
                                   environment->cpus, human_bytes(environment->memory_bytes));
    for (const auto& gpu : environment->gpus)
      text += fmt::format("{} (compute capability {}, driver {})\n", gpu.name, to_string(gpu.capability), gpu.driver);
    if (environment->gpus.empty()) text += "no NVIDIA GPU seen (none is needed to build)\n";
    console.result(text + "\n");
  }
  show_toolchains(console, *environment);
  if (only_toolchains) show_what_can_be_built(console, *environment);
  for (const auto& note : environment->notes) console.warn(note);
  return 0;
}

int run(Session& session, const EnvArguments& arguments) { return show(session, arguments.tools, false); }

}  // namespace

int list_toolchains(Session& session, const ToolchainArguments& tools) { return show(session, tools, true); }

std::vector<Verb> env_verbs() {
  return {make_verb<EnvArguments>({.name = "env",
                                   .what = "What this machine offers: compilers, Pythons, torches, GPUs",
                                   .examples = {"sagekit env", "sagekit env --toolchain folder:torch-2.11 --json"}},
                                  declare, run)};
}

}  // namespace sagekit::host
