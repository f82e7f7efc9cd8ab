// How long a plan of 10,000 cells takes. Promise: 50 ms (release build), for the plan that is looked at; the plan with
// every command line written out is printed beside it.

#include <sagekit/plan.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace sagekit;

constexpr double k_promised_ms = 50;
constexpr int k_rounds = 7;

using Words = std::vector<std::string>;

/// Four modules with bindings, as sage2 has them: ten sources, four arches.
Spec four_modules(bool torch_free) {
  Spec spec;
  spec.name = "bench";
  spec.version = "1.0.0";
  Revision revision;
  revision.commit = std::string(40, 'a');
  revision.date = "2026-01-17T17:43:28Z";
  revision.version = "2.2.0";
  spec.source.revisions = {revision};
  spec.source.default_commit = revision.commit;
  for (const auto& [capability, suffix] :
       {std::pair{Capability{8, 0}, ArchSuffix::none}, std::pair{Capability{8, 9}, ArchSuffix::none},
        std::pair{Capability{9, 0}, ArchSuffix::a}, std::pair{Capability{12, 0}, ArchSuffix::a}}) {
    ArchSpec arch;
    arch.capability = capability;
    arch.gencode = {{{capability, suffix}, {capability, suffix}, false}};
    spec.arches.push_back(arch);
  }
  for (int i = 0; i < 4; ++i) {
    KernelSpec kernel;
    kernel.module = "package._module" + std::to_string(i);
    kernel.capabilities = {{8, 0}, {8, 9}, {9, 0}, {12, 0}};
    for (int s = 0; s < 1 + i; ++s)
      kernel.sources.push_back("csrc/source" + std::to_string(i) + std::to_string(s) + ".cu");
    kernel.bindings = {"csrc/binding" + std::to_string(i) + ".cpp"};
    kernel.python_free = true;
    kernel.torch_free = torch_free;
    kernel.source_cost = {30, std::uint64_t{1} << 30};
    spec.kernels.push_back(kernel);
  }
  spec.metadata.name = "bench";
  spec.metadata.requires_dist = {"torch=={torch_minor}.*", "einops"};
  return spec;
}

/// 10 CUDAs x 2 platforms x 500 Pythons: all of them cells.
Spec all_cells() {
  auto spec = four_modules(true);
  MatrixRow row;
  for (int i = 0; i < 10; ++i) row.cuda.push_back("13." + std::to_string(i));
  for (int i = 0; i < 500; ++i) row.python.push_back("3." + std::to_string(i));
  row.platform = {"linux_x86_64", "linux_aarch64"};
  spec.matrix.include = {row};
  return spec;
}

/// 14 torches x 8 CUDAs x 3 platforms x 30 Pythons: 10,080 points; those without a published torch are excluded.
Spec real_torches() {
  auto spec = four_modules(false);
  MatrixRow row;
  row.torch = {"2.6.0",  "2.7.0",  "2.7.1",  "2.8.0",  "2.9.0",  "2.9.1",  "2.10.0",
               "2.11.0", "2.12.0", "2.12.1", "2.13.0", "2.14.0", "2.14.1", "2.15.0"};
  row.cuda = {"12.4", "12.6", "12.8", "12.9", "13.0", "13.1", "13.2", "13.3"};
  for (int i = 0; i < 30; ++i) row.python.push_back("3." + std::to_string(i));
  row.platform = {"linux_x86_64", "linux_aarch64", "win_amd64"};
  spec.matrix.include = {row};
  return spec;
}

bool measure(const char* name, const Spec& spec, bool with_steps, double promised_ms) {
  Environment machine;
  machine.platform = "linux_x86_64";
  Request request;
  request.platforms = spec.matrix.include[0].platform;
  request.with_steps = with_steps;
  double best = std::numeric_limits<double>::max();
  std::size_t cells = 0, excluded = 0, steps = 0;
  for (int i = 0; i < k_rounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto plan = make_plan(spec, request, machine);
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    if (!plan) {
      std::fprintf(stderr, "%s: %s\n", name, plan.error().message.c_str());
      return false;
    }
    best = std::min(best, elapsed.count());
    cells = plan->cells.size();
    excluded = plan->excluded.size();
    steps = plan->unique_steps;
  }
  std::printf("%-28s %6zu cells %6zu excluded %6zu unique steps  %8.1f ms", name, cells, excluded, steps, best);
  if (promised_ms > 0) std::printf("  promised %.0f ms, ratio %.2f", promised_ms, best / promised_ms);
  std::printf("\n");
  return promised_ms <= 0 || best <= promised_ms;
}

}  // namespace

int main() {
  bool kept = measure("plan, no torch", all_cells(), false, k_promised_ms);
  kept &= measure("plan, real torches", real_torches(), false, k_promised_ms);
  measure("with steps, no torch", all_cells(), true, 0);
  measure("with steps, real torches", real_torches(), true, 0);
  return kept ? 0 : 1;
}
