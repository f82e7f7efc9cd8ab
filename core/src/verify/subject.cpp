#include "verify/subject.hpp"

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

}  // namespace sagekit
