#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks.hpp"
#include "verify/claims/expected_modules.hpp"

#include <algorithm>

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

void compare(const ExpectedModule& expected, const MemberFacts& member, Judgement& judgement) {
  const auto code = loaded_arches(member, false);
  const auto wanted = wanted_arches(expected.gencode, false);
  if (const auto missing = without(wanted, code); !missing.empty())
    judgement.broken("FAT101", fmt::format("it has no machine code for {}; it has {}", arch_list(missing), seen(code)),
                     member.path, only_text(missing, loaded_arches(member, true)));
  if (const auto more = without(code, wanted); !more.empty())
    judgement.broken("FAT102", fmt::format("it has machine code for {}, which nobody asked for", arch_list(more)),
                     member.path, "a larger wheel than needed, or not the build it says it is");

  const auto ptx = loaded_arches(member, true);
  const auto wanted_ptx = wanted_arches(expected.gencode, true);
  if (const auto missing = without(wanted_ptx, ptx); !missing.empty())
    judgement.broken("FAT104", fmt::format("it has no PTX for {}", arch_list(missing)), member.path);
  if (const auto more = without(ptx, wanted_ptx); !more.empty())
    judgement.broken("FAT104", fmt::format("it has PTX for {}, which nobody asked for", arch_list(more)), member.path,
                     "drivers would compile it for GPUs that the source was never tried on");
}

void check_claims(const Subject& subject, Judgement& judgement) {
  std::string reason;
  if (subject.spec == nullptr)
    reason = "no loaded plugin makes this package";
  else if (!subject.claims.arches)
    reason = "which arches it was built for is not recorded in it";
  else if (!subject.is_recognised())
    reason = unrecognised(subject);  // which module was to have which arch is a fact of a revision
  if (!reason.empty()) {
    for (const auto code : {"FAT101", "FAT102", "FAT104"}) judgement.skipped(code, reason);
    return;
  }
  for (const auto& expected : expected_modules(subject)) {
    const MemberFacts* member = subject.find_module(expected.kernel->module);
    if (member != nullptr) compare(expected, *member, judgement);  // one that is missing is CNT002's
  }
  for (const auto code : {"FAT101", "FAT102", "FAT104"}) judgement.done(code);
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

void check_gpu_code(const Subject& subject, Judgement& judgement) {
  for (const auto& [name, member] : subject.modules()) {
    const bool any_code = std::ranges::any_of(member->gpu, &GpuCode::loaded);
    const bool outside = std::ranges::any_of(member->gpu, [](const GpuCode& code) { return !code.loaded; });
    if (outside && !any_code)
      judgement.broken("FAT105", "its GPU code lies where the CUDA runtime does not look", member->path,
                       "it was linked without its device link step");
    // Helper libraries of others may have no kernels; a module that the spec compiles kernels for may not.
    if (subject.spec != nullptr && known_kernel(*subject.spec, name) != nullptr && !any_code)
      judgement.broken("FAT103", "it holds no GPU code at all", member->path, "it was compiled for no arch");
  }
  if (subject.spec == nullptr)
    judgement.skipped("FAT103", "no loaded plugin says which modules have kernels");
  else
    judgement.done("FAT103");
  judgement.done("FAT105");
  check_claims(subject, judgement);
  check_kernels(subject, judgement);
}

}  // namespace sagekit
