#include "verify/subject.hpp"

#include "plan/arches.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

const MemberFacts* Subject::find(std::string_view archive_path) const {
  const auto found = std::ranges::lower_bound(members, archive_path, {}, &MemberFacts::path);
  return found != members.end() && found->path == archive_path ? &*found : nullptr;
}

const MemberFacts* Subject::find_module(std::string_view dotted) const {
  for (const auto& member : members)
    if (is_native(member.path) && module_name(member.path) == dotted) return &member;
  return nullptr;
}

const MemberFacts* Subject::find_library(std::string_view library) const {
  const auto found = std::ranges::find_if(members, [&](const MemberFacts& member) {
    return member.elf && (member.elf->soname == library || base_name(member.path) == library);
  });
  return found == members.end() ? nullptr : &*found;
}

bool Subject::has_python(std::string_view dotted) const {
  const auto path = replace_all(std::string(dotted), ".", "/");
  return std::ranges::any_of(members, [&](const MemberFacts& member) {
    const auto place = installed_path(member.path);
    return place == path + ".py" || place == path + "/__init__.py";
  });
}

std::vector<std::pair<std::string, const MemberFacts*>> Subject::modules() const {
  std::vector<std::pair<std::string, const MemberFacts*>> list;
  for (const auto& member : members)
    if (is_native(member.path)) list.emplace_back(module_name(member.path), &member);
  return list;
}

std::string_view to_string(Subject::Kind kind) {
  switch (kind) {
    case Subject::Kind::wheel: return "wheel";
    case Subject::Kind::build: return "build";
    case Subject::Kind::unpacked: return "unpacked";
    case Subject::Kind::installed: return "installed";
    case Subject::Kind::folder: return "folder";
  }
  return "wheel";
}

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
