#include "verify/child/importable.hpp"

#include "spec/libraries.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace {

bool needs_torch(const Artifact& artifact, const MemberFacts& member, std::set<std::string>& seen) {
  if (!member.elf || !seen.insert(member.path).second) return false;
  return std::ranges::any_of(member.elf->needed, [&](const std::string& library) {
    if (is_torch_library(library)) return true;
    const MemberFacts* inside = artifact.find_library(library);
    return inside != nullptr && needs_torch(artifact, *inside, seen);
  });
}

bool needs_torch(const Artifact& artifact, const MemberFacts& member) {
  std::set<std::string> seen;
  return needs_torch(artifact, member, seen);
}

/// Imported by Python, not loaded by ctypes: the spec says so, or the file's name or its symbols do.
bool is_extension(const Artifact& artifact, const std::string& name, const MemberFacts& member) {
  const KernelSpec* kernel = artifact.spec == nullptr ? nullptr : known_kernel(*artifact.spec, name);
  if (kernel != nullptr) return !kernel->plain_module;
  if (is_loaded_by_path(artifact, name, member)) return false;
  if (member.python_abi == "abi3" || member.python_abi.starts_with("cp")) return true;
  const auto init = "PyInit_" + after_last(name, '.');
  return member.elf && std::ranges::count(member.elf->exports, init) > 0;
}

bool is_needed_by_others(const Artifact& artifact, const MemberFacts& member) {
  const auto name = base_name(member.path);
  return std::ranges::any_of(artifact.members, [&](const MemberFacts& other) {
    return other.elf && &other != &member && std::ranges::any_of(other.elf->needed, [&](const std::string& needed) {
             return needed == name || (!member.elf->soname.empty() && needed == member.elf->soname);
           });
  });
}

}  // namespace

std::vector<Importable> importable_modules(const Artifact& artifact) {
  std::vector<Importable> list;
  bool any_torch = false;
  for (const auto& member : artifact.members) {
    const auto path = installed_path(member.path);
    if (!is_native(member.path) || path.empty() || !(member.elf || member.pe)) continue;
    const auto name = module_name(path);
    const bool library = !is_extension(artifact, name, member);
    if (library && member.elf && is_needed_by_others(artifact, member)) continue;
    const bool torch = needs_torch(artifact, member);
    any_torch = any_torch || torch;
    list.push_back({library ? path : name, path, library, torch});
  }
  if (artifact.spec == nullptr) return list;
  for (const auto& name : artifact.spec->verify.import_modules)
    if (std::ranges::count(list, name, &Importable::name) == 0 && known_kernel(*artifact.spec, name) == nullptr)
      list.push_back({name, "", false, any_torch});
  return list;
}

std::set<std::string> top_packages(const Artifact& artifact) {
  std::set<std::string> names;
  for (const auto& member : artifact.members) {
    const auto parts = split(installed_path(member.path), '/');
    if (parts.size() == 1 && parts[0].ends_with(".py")) names.insert(parts[0].substr(0, parts[0].size() - 3));
    if (parts.size() == 2 && parts[1] == "__init__.py") names.insert(parts[0]);
  }
  return names;
}

}  // namespace sagekit
