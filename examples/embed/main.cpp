// Another program that uses sagekit:  embed PLUGIN_FOLDER FILE
// Loads the plugins of a folder, plans each one's default wheels for a machine that is described by hand, says what
// that machine lacks, and what is in a file. Nothing is compiled, started or fetched; for the machine itself
// plan_here() does the first two steps, and make_ready() fetches what is missing.
#include <sagekit/doctor.hpp>
#include <sagekit/inspect.hpp>
#include <sagekit/plugin.hpp>

#include <cstdio>

namespace {

sagekit::Environment described_machine() {
  sagekit::Environment machine;
  machine.os = "linux";
  machine.machine = "x86_64";
  machine.platform = "linux_x86_64";
  machine.cpus = 8;
  machine.memory_bytes = 32ull << 30;
  return machine;  // no nvcc, no Python, no torch: a plan says what is missing
}

int complain(const sagekit::Error& error) {
  std::fprintf(stderr, "error[%s]: %s\n  = %s\n", error.code.c_str(), error.message.c_str(), error.hint.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: embed PLUGIN_FOLDER FILE\n"), 2;

  const auto loaded = sagekit::load_plugins({.files = {}, .folders = {argv[1]}});
  for (const auto& rejected : loaded.rejected) complain(rejected.error);

  for (const auto& plugin : loaded.plugins) {
    const auto machine = described_machine();
    const auto plan = sagekit::make_plan(plugin.spec(), {}, machine);
    if (!plan) return complain(plan.error());
    std::printf("%s %s: %zu cells\n", plugin.name().c_str(), plugin.spec().version.c_str(), plan->cells.size());
    for (const auto& cell : plan->cells) std::printf("  %s\n", cell.wheel.c_str());
    for (const auto& cell : sagekit::diagnose(plugin.spec(), {machine, *plan}, {}).cells) {
      for (const auto& part : cell.parts) {
        if (part.state == sagekit::PartState::here) continue;
        std::printf("    %s: %s; %s\n", part.what.c_str(), part.found.c_str(), part.mend.c_str());
      }
    }
  }

  const auto facts = sagekit::inspect_file(argv[2]);
  if (!facts) return complain(facts.error());
  for (const auto& member : facts->members) {
    if (member.elf) std::printf("%s: %s, %zu exports\n", argv[2], facts->kind.c_str(), member.elf->exports.size());
  }
  return loaded.plugins.empty() ? 1 : 0;
}
