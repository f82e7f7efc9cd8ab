#include "inspect/diff_names.hpp"
#include "pypa/wheel_paths.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/diff.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace sagekit {

namespace {

using Names = std::vector<std::string>;

void compare(Changes& changes, std::string field, std::string before, std::string after) {
  if (before != after) changes.fields.push_back({std::move(field), std::move(before), std::move(after)});
}

void compare(Changes& changes, std::string field, bool before, bool after) {
  compare(changes, std::move(field), std::string(before ? "yes" : "no"), std::string(after ? "yes" : "no"));
}

void compare_sets(Changes& changes, std::string field, Names before, Names after) {
  std::ranges::sort(before);
  std::ranges::sort(after);
  SetChange change{std::move(field), {}, {}};
  std::ranges::set_difference(before, after, std::back_inserter(change.removed));
  std::ranges::set_difference(after, before, std::back_inserter(change.added));
  if (!change.removed.empty() || !change.added.empty()) changes.sets.push_back(std::move(change));
}

void compare_versions(Changes& changes, const ElfFacts& before, const ElfFacts& after) {
  std::set<std::string> families;
  for (const auto* facts : {&before, &after})
    for (const auto& [family, version] : facts->versions) families.insert(family);
  const auto of = [](const ElfFacts& facts, const std::string& family) {
    const auto found = facts.versions.find(family);
    return found == facts.versions.end() ? std::string() : found->second;
  };
  for (const auto& family : families) compare(changes, family, of(before, family), of(after, family));
}

void compare_elf(Changes& changes, const ElfFacts& before, const ElfFacts& after) {
  compare(changes, "machine", before.machine, after.machine);
  compare(changes, "soname", before.soname, after.soname);
  compare_versions(changes, before, after);
  compare(changes, "debug information", before.debug_info, after.debug_info);
  compare(changes, "executable stack", before.executable_stack, after.executable_stack);
  compare(changes, "relro", before.relro, after.relro);
  compare_sets(changes, "needed libraries", before.needed, after.needed);
  compare_sets(changes, "run paths", before.run_paths, after.run_paths);
  compare_sets(changes, "exports", before.exports, after.exports);
  compare_sets(changes, "undefined symbols", before.undefined, after.undefined);
}

void compare_pe(Changes& changes, const PeFacts& before, const PeFacts& after) {
  compare(changes, "machine", before.machine, after.machine);
  compare_sets(changes, "needed libraries", before.imports, after.imports);
  compare_sets(changes, "exports", before.exports, after.exports);
}

std::string code_name(const GpuCode& code) {
  std::string name = code.ptx ? compute_name(code.arch) + " PTX" : sm_name(code.arch);
  if (code.lto) name += " LTO";
  if (!code.loaded) name += " (never loaded)";
  return name;
}

using CodeByName = std::map<std::string, const GpuCode*>;

CodeByName by_name(const std::vector<GpuCode>& gpu) {
  CodeByName map;
  for (const auto& code : gpu) map.emplace(code_name(code), &code);
  return map;
}

Names stable_names(const GpuCode& code) {
  Names names;
  for (const auto& name : code.names) names.push_back(without_unique_parts(name));
  return names;
}

/// Registers, shared memory, stack and local memory of the kernels that both have.
void compare_resources(Changes& changes, const std::string& name, const GpuCode& before, const GpuCode& after) {
  std::map<std::string, const KernelResources*> old;
  for (const auto& kernel : before.resources) old.emplace(without_unique_parts(kernel.name), &kernel);
  for (const auto& now : after.resources) {
    const auto kernel = without_unique_parts(now.name);
    const auto found = old.find(kernel);
    if (found == old.end()) continue;
    const auto& was = *found->second;
    const auto number = [&](std::string_view what, std::uint64_t a, std::uint64_t b) {
      compare(changes, fmt::format("{} {} {}", name, kernel, what), std::to_string(a), std::to_string(b));
    };
    number("registers", was.registers, now.registers);
    number("shared bytes", was.shared_bytes, now.shared_bytes);
    number("stack bytes", was.stack_bytes, now.stack_bytes);
    number("local bytes", was.local_load_bytes + was.local_store_bytes, now.local_load_bytes + now.local_store_bytes);
  }
}

void compare_gpu(Changes& changes, const std::vector<GpuCode>& before, const std::vector<GpuCode>& after) {
  const auto old = by_name(before), now = by_name(after);
  Names old_names, new_names;
  for (const auto& [name, code] : old) old_names.push_back(name);
  for (const auto& [name, code] : now) new_names.push_back(name);
  compare_sets(changes, "GPU code", old_names, new_names);
  for (const auto& [name, code] : now) {
    const auto found = old.find(name);
    if (found == old.end()) continue;
    const GpuCode& was = *found->second;
    compare(changes, name + " images", std::to_string(was.count), std::to_string(code->count));
    compare(changes, name + " bytes", std::to_string(was.bytes), std::to_string(code->bytes));
    if (was.toolkit != code->toolkit)
      changes.fields.push_back({name + " toolkit", was.toolkit, code->toolkit, code->ptx});
    compare_sets(changes, name + " kernels", stable_names(was), stable_names(*code));
    compare_resources(changes, name, was, *code);
  }
}

/// Nothing of it could be read, or not where its GPU code lies: what it has is not known.
bool unread(const MemberFacts& member) {
  if (hides_gpu_code(member)) return true;
  return !member.elf && !member.pe && member.gpu.empty() &&
         std::ranges::find(member.problems, Severity::error, &Diagnostic::severity) != member.problems.end();
}

MemberChange compare_member(const MemberFacts& before, const MemberFacts& after) {
  MemberChange change{MemberChange::Kind::changed, after.path, {}, before.size_bytes, after.size_bytes, {}};
  if (before.path != after.path) change.was = before.path;
  if (unread(before) || unread(after)) {
    compare(change.changes, "readable", !unread(before), !unread(after));
    return change;
  }
  // As in inspect's JSON, a library without an entry point for Python is for none, too.
  const auto abi = [](const MemberFacts& member) { return member.python_abi.empty() ? "none" : member.python_abi; };
  compare(change.changes, "Python ABI", abi(before), abi(after));
  if (before.elf && after.elf) compare_elf(change.changes, *before.elf, *after.elf);
  if (before.pe && after.pe) compare_pe(change.changes, *before.pe, *after.pe);
  compare_gpu(change.changes, before.gpu, after.gpu);
  return change;
}

/// A file's name without what says for which Python, machine or version it is: the key by which two are one.
std::string role(const MemberFacts& member, const FileFacts& file) {
  const std::string& path = member.path;
  if (file.wheel && !file.wheel->dist_info.empty() && path.starts_with(file.wheel->dist_info + "/"))
    return "*.dist-info/" + path.substr(file.wheel->dist_info.size() + 1);
  if (file.kind != "wheel") return {};                             // one file against one file
  if (!is_native(path) && !member.elf && !member.pe) return path;  // one that is damaged keeps its role
  const auto slash = path.rfind('/') + 1;
  return path.substr(0, path.find('.', slash)) + ".*";
}

/// Members of both files by role. Where a role is not one file's alone, the whole path is.
std::map<std::string, const MemberFacts*> roles(const FileFacts& file) {
  std::map<std::string, std::vector<const MemberFacts*>> found;
  for (const auto& member : file.members) found[role(member, file)].push_back(&member);
  std::map<std::string, const MemberFacts*> unique;
  for (const auto& [name, members] : found)
    for (const auto* member : members) unique.emplace(members.size() == 1 ? name : member->path, member);
  return unique;
}

void compare_wheels(Changes& changes, const WheelFacts& before, const WheelFacts& after) {
  compare(changes, "Name", before.metadata_name, after.metadata_name);
  compare(changes, "Version", before.metadata_version, after.metadata_version);
  compare(changes, "Build", before.build, after.build);
  compare(changes, "Requires-Python", before.requires_python, after.requires_python);
  compare(changes, "Generator", before.generator, after.generator);
  compare(changes, "Root-Is-Purelib", before.root_is_purelib, after.root_is_purelib);
  compare_sets(changes, "Tag", before.wheel_tags, after.wheel_tags);
  compare_sets(changes, "Requires-Dist", before.requires_dist, after.requires_dist);
  compare_sets(changes, "License-File", before.license_files, after.license_files);
}

Diagnostics damage_of(const FileFacts& file) {
  Diagnostics damage;
  const auto take = [&](const Diagnostics& problems) {
    std::ranges::copy_if(problems, std::back_inserter(damage),
                         [](const Diagnostic& one) { return one.severity == Severity::error; });
  };
  if (file.wheel) take(file.wheel->problems);
  for (const auto& member : file.members) take(member.problems);
  return damage;
}

}  // namespace

FileDiff diff_files(const FileFacts& before, const FileFacts& after) {
  FileDiff diff{before.path, after.path, before.size_bytes, after.size_bytes, {}, {}, 0, false, {}, {}};
  diff.before_damage = damage_of(before);
  diff.after_damage = damage_of(after);
  diff.identical = !before.sha256.empty() && before.sha256 == after.sha256;
  compare(diff.changes, "kind", before.kind, after.kind);
  if (before.wheel && after.wheel) compare_wheels(diff.changes, *before.wheel, *after.wheel);
  const auto old = roles(before), now = roles(after);
  for (const auto& [name, member] : old)
    if (!now.contains(name))
      diff.members.push_back({MemberChange::Kind::removed, member->path, {}, member->size_bytes, 0, {}});
  for (const auto& [name, member] : now) {
    const auto found = old.find(name);
    if (found == old.end()) {
      diff.members.push_back({MemberChange::Kind::added, member->path, {}, 0, member->size_bytes, {}});
    } else if (!member->sha256.empty() && member->sha256 == found->second->sha256) {
      ++diff.same;
    } else {
      diff.members.push_back(compare_member(*found->second, *member));
    }
  }
  std::ranges::sort(diff.members, {}, &MemberChange::path);
  return diff;
}

}  // namespace sagekit
