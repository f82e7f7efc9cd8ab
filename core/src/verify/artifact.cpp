#include "verify/artifact.hpp"

#include "plan/arches.hpp"
#include "support/text.hpp"
#include "verify/build_provenance.hpp"

#include <algorithm>

namespace sagekit {

std::string Artifact::experimental() const {
  const bool ran = spec != nullptr && experimental_label(*spec, provenance.commit, provenance.platform).empty();
  return ran ? std::string() : provenance.experimental;
}

const MemberFacts* Artifact::find(std::string_view archive_path) const {
  const auto found = std::ranges::lower_bound(members, archive_path, {}, &MemberFacts::path);
  return found != members.end() && found->path == archive_path ? &*found : nullptr;
}

const MemberFacts* Artifact::find_module(std::string_view dotted) const {
  for (const auto& member : members)
    if (is_native(member.path) && module_name(member.path) == dotted) return &member;
  return nullptr;
}

const MemberFacts* Artifact::find_library(std::string_view library) const {
  const auto found = std::ranges::find_if(members, [&](const MemberFacts& member) {
    return member.elf && (member.elf->soname == library || base_name(member.path) == library);
  });
  return found == members.end() ? nullptr : &*found;
}

bool Artifact::has_dll(std::string_view library) const {
  return std::ranges::any_of(
      members, [&](const MemberFacts& member) { return member.pe && lower(base_name(member.path)) == library; });
}

bool Artifact::has_python(std::string_view dotted) const {
  const auto path = replace_all(std::string(dotted), ".", "/");
  return std::ranges::any_of(members, [&](const MemberFacts& member) {
    const auto place = installed_path(member.path);
    return place == path + ".py" || place == path + "/__init__.py";
  });
}

std::vector<std::pair<std::string, const MemberFacts*>> Artifact::modules() const {
  std::vector<std::pair<std::string, const MemberFacts*>> list;
  for (const auto& member : members)
    if (is_native(member.path)) list.emplace_back(module_name(member.path), &member);
  return list;
}

std::string_view to_string(Artifact::Kind kind) {
  switch (kind) {
    case Artifact::Kind::wheel: return "wheel";
    case Artifact::Kind::build: return "build";
    case Artifact::Kind::unpacked: return "unpacked";
    case Artifact::Kind::installed: return "installed";
    case Artifact::Kind::folder: return "folder";
  }
  return "wheel";
}

std::vector<ExpectedModule> expected_modules(const Artifact& artifact) {
  std::vector<ExpectedModule> list;
  if (artifact.spec == nullptr || artifact.revision == nullptr || !artifact.provenance.arches) return list;
  const Provenance& provenance = artifact.provenance;
  Choice choice;
  choice.revision = artifact.revision;
  // What could be built with its CUDA is not asked: it was built, and its record need not name one.
  const ArchSet set = claimed_arches(*artifact.spec, choice, *provenance.arches);
  for (const auto& kernel : artifact.spec->kernels)
    if (holds(kernel.when, *artifact.revision, to_string(choice.backend), provenance.torch, provenance.cuda))
      list.push_back({&kernel, module_gencode(kernel, set)});
  std::ranges::sort(list, {}, [](const ExpectedModule& expected) { return expected.kernel->module; });
  return list;
}

std::vector<std::string> missing_modules(const Artifact& artifact) {
  std::vector<std::string> names;
  for (const auto& expected : expected_modules(artifact))
    if (const auto& name = expected.kernel->module;
        !expected.gencode.empty() && artifact.find_module(name) == nullptr && !contains(names, name))
      names.push_back(name);
  return names;
}

const KernelSpec* known_kernel(const Spec& spec, std::string_view module) {
  const auto found = std::ranges::find(spec.kernels, module, &KernelSpec::module);
  return found == spec.kernels.end() ? nullptr : &*found;
}

}  // namespace sagekit
