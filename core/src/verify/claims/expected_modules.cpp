#include "verify/claims/expected_modules.hpp"

#include "plan/arches.hpp"

#include <algorithm>

namespace sagekit {

std::vector<ExpectedModule> expected_modules(const Subject& subject) {
  std::vector<ExpectedModule> list;
  if (subject.spec == nullptr || subject.revision == nullptr || !subject.claims.arches) return list;
  const Claims& claims = subject.claims;
  Choice choice;
  choice.revision = subject.revision;
  choice.backend = "direct";
  choice.arches = claims.arches;
  const ArchSet set = choose_arches(*subject.spec, choice, claims.torch, claims.cuda);
  for (const auto& kernel : subject.spec->kernels)
    if (holds(kernel.when, *subject.revision, choice.backend, claims.torch, claims.cuda))
      list.push_back({&kernel, module_gencode(kernel, set)});
  std::ranges::sort(list, {}, [](const ExpectedModule& expected) { return expected.kernel->module; });
  return list;
}

const KernelSpec* known_kernel(const Spec& spec, std::string_view module) {
  const auto found = std::ranges::find(spec.kernels, module, &KernelSpec::module);
  return found == spec.kernels.end() ? nullptr : &*found;
}

}  // namespace sagekit
