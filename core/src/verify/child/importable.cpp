#include "verify/child/importable.hpp"

#include "spec/libraries.hpp"
#include "support/text.hpp"
#include "verify/child/child_python.hpp"
#include "verify/claims/expected_modules.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

bool needs_torch(const Subject& subject, const MemberFacts& member, std::set<std::string>& seen) {
  if (!member.elf || !seen.insert(member.path).second) return false;
  return std::ranges::any_of(member.elf->needed, [&](const std::string& library) {
    if (is_torch_library(library)) return true;
    const MemberFacts* inside = subject.find_library(library);
    return inside != nullptr && needs_torch(subject, *inside, seen);
  });
}

bool needs_torch(const Subject& subject, const MemberFacts& member) {
  std::set<std::string> seen;
  return needs_torch(subject, member, seen);
}

/// Imported by Python, not loaded by ctypes: the spec says so, or the file's name or its symbols do.
bool is_extension(const Subject& subject, const std::string& name, const MemberFacts& member) {
  const KernelSpec* kernel = subject.spec == nullptr ? nullptr : known_kernel(*subject.spec, name);
  if (kernel != nullptr) return !kernel->plain_module;
  if (member.python_abi == "abi3" || member.python_abi.starts_with("cp")) return true;
  const auto init = "PyInit_" + name.substr(name.rfind('.') + 1);
  return member.elf && std::ranges::count(member.elf->exports, init) > 0;
}

bool is_needed_by_others(const Subject& subject, const MemberFacts& member) {
  const auto name = base_name(member.path);
  return std::ranges::any_of(subject.members, [&](const MemberFacts& other) {
    return other.elf && &other != &member && std::ranges::any_of(other.elf->needed, [&](const std::string& needed) {
             return needed == name || (!member.elf->soname.empty() && needed == member.elf->soname);
           });
  });
}

}  // namespace

std::vector<Importable> importable_modules(const Subject& subject) {
  std::vector<Importable> list;
  bool any_torch = false;
  for (const auto& member : subject.members) {
    const auto path = installed_path(member.path);
    if (!is_native(member.path) || path.empty() || !(member.elf || member.pe)) continue;
    const auto name = module_name(path);
    const bool library = !is_extension(subject, name, member);
    if (library && member.elf && is_needed_by_others(subject, member)) continue;
    const bool torch = needs_torch(subject, member);
    any_torch = any_torch || torch;
    list.push_back({library ? path : name, path, library, torch});
  }
  if (subject.spec == nullptr) return list;
  for (const auto& name : subject.spec->verify.import_modules)
    if (std::ranges::count(list, name, &Importable::name) == 0 && known_kernel(*subject.spec, name) == nullptr)
      list.push_back({name, "", false, any_torch});
  return list;
}

}  // namespace sagekit
