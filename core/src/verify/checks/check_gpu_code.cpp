// Each module's GPU code against what the spec says for the claimed arches, and the kernels in it.
#include "gpu/driver_choice.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/artifact.hpp"
#include "verify/checks/checks.hpp"
#include "verify/runs_on.hpp"

#include <sagekit/version_number.hpp>

#include <algorithm>
#include <map>

namespace sagekit {

namespace {

std::vector<Arch> sorted(std::vector<Arch> arches) {
  std::ranges::sort(arches);
  const auto rest = std::ranges::unique(arches);
  arches.erase(rest.begin(), rest.end());
  return arches;
}

std::vector<Arch> without(const std::vector<Arch>& all, const std::vector<Arch>& taken) {
  std::vector<Arch> rest;
  std::ranges::set_difference(all, taken, std::back_inserter(rest));
  return rest;
}

std::vector<Arch> wanted_arches(const std::vector<Gencode>& gencode, bool ptx) {
  std::vector<Arch> arches;
  for (const auto& one : gencode)
    if (one.ptx == ptx) arches.push_back(one.code);
  return sorted(std::move(arches));
}

std::string seen(const std::vector<Arch>& arches) { return arches.empty() ? "none" : arch_list(arches); }

/// PTX can stand in for machine code, at a price that nobody agreed to.
std::string only_text(const std::vector<Arch>& missing, const std::vector<Arch>& ptx) {
  for (const auto& arch : missing)
    for (const auto& text : ptx)
      if (ptx_reaches(text, arch.capability))
        return fmt::format(
            "PTX for {} is all there is for {}: the driver compiles it at the first call, for a minute or "
            "more, and code for {} alone is not in it",
            to_string(text), to_string(arch), to_string(arch));
  return {};
}

void compare(const ExpectedModule& expected, const MemberFacts& member, FindingList& findings) {
  const auto code = loaded_arches(member, false);
  const auto wanted = wanted_arches(expected.gencode, false);
  if (const auto missing = without(wanted, code); !missing.empty())
    findings.broken("FAT101", fmt::format("it has no machine code for {}; it has {}", arch_list(missing), seen(code)),
                    member.path, only_text(missing, loaded_arches(member, true)));
  if (const auto more = without(code, wanted); !more.empty())
    findings.broken("FAT102", fmt::format("it has machine code for {}, which nobody asked for", arch_list(more)),
                    member.path, "a larger wheel than needed, or not the build it says it is");

  const auto ptx = loaded_arches(member, true);
  const auto wanted_ptx = wanted_arches(expected.gencode, true);
  if (const auto missing = without(wanted_ptx, ptx); !missing.empty())
    findings.broken("FAT104", fmt::format("it has no PTX for {}", arch_list(missing)), member.path);
  if (const auto more = without(ptx, wanted_ptx); !more.empty())
    findings.broken("FAT104", fmt::format("it has PTX for {}, which nobody asked for", arch_list(more)), member.path,
                    "drivers would compile it for GPUs that the source was never tried on");
}

void check_claimed_arches(const Artifact& artifact, FindingList& findings) {
  std::string reason;
  if (artifact.spec == nullptr)
    reason = "no loaded plugin makes this package";
  else if (!artifact.provenance.arches)
    reason = "which arches it was built for is not recorded in it";
  else if (!artifact.is_recognised())
    reason = unrecognised(artifact);  // which module was to have which arch is a fact of a revision
  if (!reason.empty()) {
    for (const auto code : {"FAT101", "FAT102", "FAT104"}) findings.skipped(code, reason);
    return;
  }
  for (const auto& expected : expected_modules(artifact)) {
    const MemberFacts* member = artifact.find_module(expected.kernel->module);
    if (member != nullptr) compare(expected, *member, findings);  // one that is missing is CNT002's
  }
  for (const auto code : {"FAT101", "FAT102", "FAT104"}) findings.done(code);
}

/// A module of the wheel, and what the spec says of it: null where no spec does.
struct Module {
  const MemberFacts& facts;
  const KernelSpec* row = nullptr;
};

bool is_machine_code(const GpuCode& code) { return code.loaded && !code.ptx && !code.lto && code.count > 0; }

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string broken_words(const BrokenKernels& broken) {
  std::vector<std::string> words;
  if (broken.traps > 0) words.push_back(counted(broken.traps, "is a trap", "are traps"));
  if (broken.empty > 0) words.push_back(counted(broken.empty, "is empty", "are empty"));
  if (broken.part_trap > 0)
    words.push_back(counted(broken.part_trap, "has", "have") +
                    " traps where its image for another arch has tensor-core instructions");
  return join(words, " and ");
}

/// Does the package call this module on a GPU that loads a broken kernel from the arch's images, and could it run there
/// but for that? Modules hold kernels for GPUs on which nobody calls them: quantizing to FP8 is a trap on 8.0.
bool is_called(const Artifact& artifact, const Module& module, const KernelBodies& bodies, const Arch& arch) {
  return std::ranges::any_of(known_gpus(artifact), [&](Capability gpu) {
    const auto dispatch = dispatch_for(artifact, gpu);
    if (!dispatch || !dispatch->refused.empty() || !contains(dispatch->modules, module.row->module)) return false;
    const auto has_code = [&](const std::string& name) {
      const MemberFacts* member = artifact.find_module(name);
      return member != nullptr && code_for(*member, gpu) != nullptr;
    };
    return std::ranges::all_of(dispatch->modules, has_code) && bodies.breaks(gpu, arch);
  });
}

void check_bodies(const Artifact& artifact, const Module& module, FindingList& findings) {
  const KernelBodies bodies(module.facts.gpu);
  std::vector<std::string> told;
  for (const auto& arch : bodies.arches()) {
    const auto broken = bodies.of_arch(arch);
    if (broken.traps + broken.empty + broken.part_trap == 0) continue;
    if (broken.all()) {
      findings.broken("FAT108",
                      fmt::format("none of its {} does anything on {}: {}",
                                  counted(broken.kernels, "kernel", "kernels"), to_string(arch), broken_words(broken)),
                      module.facts.path, "an arch guard in the source left them out, or the nvcc was too old for them");
    } else if (broken.any() && module.row != nullptr && is_called(artifact, module, bodies, arch)) {
      findings.broken("FAT109",
                      fmt::format("of its {} for {} {}, such as {}", counted(broken.kernels, "kernel", "kernels"),
                                  to_string(arch), broken_words(broken), broken.example),
                      module.facts.path, "a call that needs one of them ends in an error or does nothing");
    } else {
      told.push_back(fmt::format("{}: {}", to_string(arch), broken_words(broken)));
    }
  }
  if (!told.empty())
    findings.note("FAT109",
                  fmt::format("some kernels have no body ({}); sources that choose by arch leave such on purpose",
                              join(told, "; ")),
                  module.facts.path);
}

void check_local_memory(const Module& module, std::uint64_t limit, FindingList& findings) {
  for (const auto& code : module.facts.gpu) {
    if (!is_machine_code(code)) continue;
    const KernelResources* worst = nullptr;
    const auto local = [](const KernelResources& kernel) { return kernel.local_load_bytes + kernel.local_store_bytes; };
    for (const auto& kernel : code.resources)
      if (kernel.local_counted && local(kernel) > limit && (worst == nullptr || local(kernel) > local(*worst)))
        worst = &kernel;
    if (worst != nullptr)
      findings.broken("FAT110",
                      fmt::format("on {} a kernel moves {} bytes of local memory, more than the {} that the plugin "
                                  "allows: {}",
                                  to_string(code.arch), local(*worst), limit, worst->name),
                      module.facts.path, "registers spill: another nvcc, other flags, or a change of the source");
  }
}

/// Machine code of an older virtual arch lacks what came with its own: tensor-core paths behind arch guards are gone.
void check_virtual_arch(const Module& module, const std::vector<Gencode>& asked, FindingList& findings) {
  for (const auto& code : module.facts.gpu) {
    if (!is_machine_code(code) || !code.compiled_from) continue;
    const auto found = std::ranges::find_if(
        asked, [&](const Gencode& one) { return !one.ptx && one.code.capability == code.arch.capability; });
    const bool wrong = found != asked.end() ? *code.compiled_from != found->compute.capability
                                            : code.compiled_from->major < code.arch.capability.major;
    if (wrong)
      findings.broken("FAT106",
                      fmt::format("machine code for {} was compiled from {}", to_string(code.arch),
                                  compute_name({*code.compiled_from, ArchSuffix::none})),
                      module.facts.path, "what the source does for the newer arch alone is not in it");
  }
}

void check_ptx(const Module& module, FindingList& findings) {
  for (const auto& arch : loaded_arches(module.facts, true))
    if (arch.suffix != ArchSuffix::none)
      findings.broken("FAT107",
                      fmt::format("its PTX for {} can be compiled for {} only", to_string(arch),
                                  arch.suffix == ArchSuffix::a ? "exactly that GPU" : "GPUs of that family"),
                      module.facts.path, "for newer GPUs embed PTX without a suffix");
}

void check_wiring(const Module& module, FindingList& findings) {
  if (!module.facts.wiring) return;
  const FatbinWiring& wiring = *module.facts.wiring;
  if (wiring.wrappers == 0)
    findings.note("FAT111", "nothing in it registers its GPU code with the CUDA runtime; it must load it itself",
                  module.facts.path);
  else if (wiring.wrappers < wiring.containers)
    findings.broken("FAT111",
                    fmt::format("{} of its {} are registered by nothing in it", wiring.containers - wiring.wrappers,
                                counted(wiring.containers, "fatbin", "fatbins")),
                    module.facts.path, "unless something else loads them, their kernels are dead weight");
  if (wiring.repeated > 0)
    findings.broken("FAT112",
                    fmt::format("{} of one arch in two of its fatbins",
                                counted(wiring.repeated, "kernel is for", "kernels are for")),
                    module.facts.path, "the same code was linked in twice");
}

void check_presence(const Module& module, FindingList& findings) {
  const auto& gpu = module.facts.gpu;
  const auto loaded = [](const GpuCode& code) { return code.loaded && !code.lto; };
  if (std::ranges::none_of(gpu, loaded)) return;
  if (std::ranges::any_of(gpu, [&](const GpuCode& code) { return loaded(code) && code.kernels > 0; })) return;
  findings.broken("FAT113", "it has GPU code, and no kernel in it", module.facts.path,
                  "code that no call can start: it was compiled from files without kernels");
}

/// The spec's rows for an arch say which nvcc can compile it.
void check_toolkit(const Artifact& artifact, const Module& module, FindingList& findings) {
  for (const auto& code : module.facts.gpu) {
    const auto toolkit = parse_version_number(code.toolkit);
    if (!is_machine_code(code) || !toolkit) continue;
    const ArchSpec* refusing = nullptr;
    bool fits = false;
    for (const auto& row : artifact.spec->arches) {
      if (row.capability != code.arch.capability || !row.excluded.empty()) continue;
      if (!holds(row.when, *artifact.revision)) continue;
      fits = fits || row.cuda.contains(*toolkit);
      if (refusing == nullptr) refusing = &row;
    }
    if (refusing == nullptr || fits) continue;
    findings.broken("FAT114",
                    fmt::format("its code for {} was made by nvcc {}, but {} needs {}", to_string(code.arch),
                                code.toolkit, to_string(code.arch.capability), refusing->cuda.text),
                    module.facts.path, refusing->source);
  }
}

/// FAT106..: what is in the kernels, and how they are linked.
void check_kernels(const Artifact& artifact, FindingList& findings) {
  const int limit = artifact.spec == nullptr ? 0 : artifact.spec->verify.local_bytes_max;
  std::map<std::string, std::vector<Gencode>> asked;
  for (const auto& expected : expected_modules(artifact)) asked[expected.kernel->module] = expected.gencode;
  bool read = true;
  for (const auto& [name, member] : artifact.modules()) {
    if (member->gpu.empty()) continue;
    const Module module{*member, artifact.spec == nullptr ? nullptr : known_kernel(*artifact.spec, name)};
    check_virtual_arch(module, asked[name], findings);
    check_ptx(module, findings);
    check_wiring(module, findings);
    if (module.row != nullptr && artifact.is_recognised()) check_toolkit(artifact, module, findings);
    read = read && member->kernels_read;
    if (!member->kernels_read) continue;
    check_presence(module, findings);
    check_bodies(artifact, module, findings);
    if (limit > 0 && module.row != nullptr) check_local_memory(module, static_cast<std::uint64_t>(limit), findings);
  }
  for (const auto code : {"FAT106", "FAT107", "FAT111"}) findings.done(code);
  for (const auto code : {"FAT108", "FAT109", "FAT112", "FAT113"}) {
    if (read)
      findings.done(code);
    else
      findings.skipped(code, "kernels were not read");
  }
  if (limit > 0)
    findings.done("FAT110");
  else
    findings.skipped("FAT110", artifact.spec == nullptr ? "no loaded plugin makes this package"
                                                        : "the plugin gives no local_bytes_max");
  if (artifact.spec == nullptr)
    findings.skipped("FAT114", "no loaded plugin makes this package");
  else if (!artifact.is_recognised())
    findings.skipped("FAT114", unrecognised(artifact));  // which nvcc an arch needs is a fact of a revision
  else
    findings.done("FAT114");
}

}  // namespace

std::vector<Arch> loaded_arches(const MemberFacts& member, bool ptx) {
  std::vector<Arch> arches;
  for (const auto& code : member.gpu)
    if (code.loaded && !code.lto && code.ptx == ptx && code.count > 0) arches.push_back(code.arch);
  return sorted(std::move(arches));
}

std::string arch_list(const std::vector<Arch>& arches) {
  std::vector<std::string> names;
  for (const auto& arch : arches) names.push_back(to_string(arch));
  return join(names, ", ");
}

void check_gpu_code(const Artifact& artifact, FindingList& findings) {
  for (const auto& [name, member] : artifact.modules()) {
    const bool any_code = std::ranges::any_of(member->gpu, &GpuCode::loaded);
    if (hides_gpu_code(*member)) {
      const auto reason = fmt::format("{} is damaged: what GPU code it has is not known", name);
      findings.skipped("FAT105", reason);
      if (artifact.spec != nullptr) findings.skipped("FAT103", reason);
      continue;
    }
    const bool outside = std::ranges::any_of(member->gpu, [](const GpuCode& code) { return !code.loaded; });
    if (outside && !any_code)
      findings.broken("FAT105", "its GPU code lies where the CUDA runtime does not look", member->path,
                      "it was linked without its device link step");
    // Helper libraries of others may have no kernels; a module that the spec compiles kernels for may not.
    if (artifact.spec != nullptr && known_kernel(*artifact.spec, name) != nullptr && !any_code)
      findings.broken("FAT103", "it holds no GPU code at all", member->path, "it was compiled for no arch");
  }
  if (artifact.spec == nullptr)
    findings.skipped("FAT103", "no loaded plugin says which modules have kernels");
  else
    findings.done("FAT103");
  findings.done("FAT105");
  check_claimed_arches(artifact, findings);
  check_kernels(artifact, findings);
}

}  // namespace sagekit
