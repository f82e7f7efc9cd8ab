#include "verify/artifact.hpp"

#include "elf/python_library.hpp"
#include "plan/arches.hpp"
#include "spec/symbol_lists.hpp"
#include "support/text.hpp"
#include "verify/build_provenance.hpp"

#include <algorithm>

namespace sagekit {

namespace {

bool is_python_symbol(std::string_view symbol) {
  if (symbol.starts_with("PyInit_") || symbol.starts_with("PyModExport_")) return false;  // another module's
  return symbol.starts_with("Py") || symbol.starts_with("_Py");
}

}  // namespace

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

std::set<std::string> python_symbols(const Artifact& artifact, const MemberFacts& member) {
  std::set<std::string> symbols;
  if (member.pe)
    for (const auto& [library, names] : member.pe->imported)
      if (python_of_library(library)) symbols.insert(names.begin(), names.end());
  if (!member.elf) return symbols;
  for (const auto& symbol : member.elf->undefined)
    if (is_python_symbol(symbol) && !std::ranges::binary_search(member.elf->undefined_weak, symbol))
      symbols.insert(symbol);
  if (symbols.empty()) return symbols;
  for (const auto& library : member.elf->needed)
    if (const auto* own = artifact.find_library(library))
      for (const auto& symbol : own->elf->exports) symbols.erase(symbol);
  return symbols;
}

bool is_loaded_by_path(const Artifact& artifact, std::string_view name, const MemberFacts& member) {
  if (artifact.spec != nullptr || (!member.elf && !member.pe)) return false;
  const auto& exports = member.elf ? member.elf->exports : member.pe->exports;
  const auto last = after_last(name, '.');
  return !contains(exports, "PyInit_" + last) && !contains(exports, "PyModExport_" + last) &&
         python_symbols(artifact, member).empty();
}

}  // namespace sagekit
