#pragma once
// What a spec says must be in a wheel of certain arches.

#include "verify/subject.hpp"

#include <sagekit/arch.hpp>
#include <sagekit/spec.hpp>

#include <string>
#include <vector>

namespace sagekit {

struct ExpectedModule {
  const KernelSpec* kernel = nullptr;
  std::vector<Gencode> gencode;  ///< empty: the module is not built for this set
};

/// The rows of the spec's kernels that hold for the subject's revision, torch and CUDA, in order of module name. Needs
/// a spec, a revision and claimed arches.
std::vector<ExpectedModule> expected_modules(const Subject& subject);

/// Is this dotted name one of the spec's modules, in any revision?
const KernelSpec* known_kernel(const Spec& spec, std::string_view module);

}  // namespace sagekit
