#include "verify/subject.hpp"

#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace {

std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

/// "manylinux_2_28_x86_64" behind its first word: libc "2.28" and machine.
void take_libc(PlatformTag& tag, std::string_view rest) {
  const auto parts = split(rest, '_');
  if (parts.size() < 3) return;
  tag.libc = parts[0] + "." + parts[1];
  tag.machine = join({parts.begin() + 2, parts.end()}, "_");
}

}  // namespace

PlatformTag parse_platform_tag(std::string_view tag) {
  using System = PlatformTag::System;
  PlatformTag out;
  const auto after = [&](std::string_view prefix) { return tag.substr(prefix.size()); };
  if (tag == "any") {
    out.system = System::any;
  } else if (tag.starts_with("linux_")) {
    out = {System::linux, std::string(after("linux_")), {}};
  } else if (tag.starts_with("manylinux_")) {
    out.system = System::manylinux;
    take_libc(out, after("manylinux_"));
  } else if (tag.starts_with("manylinux1_")) {  // PEP 513, 571 and 599: names for 2.5, 2.12 and 2.17
    out = {System::manylinux, std::string(after("manylinux1_")), "2.5"};
  } else if (tag.starts_with("manylinux2010_")) {
    out = {System::manylinux, std::string(after("manylinux2010_")), "2.12"};
  } else if (tag.starts_with("manylinux2014_")) {
    out = {System::manylinux, std::string(after("manylinux2014_")), "2.17"};
  } else if (tag.starts_with("musllinux_")) {
    out.system = System::musllinux;
    take_libc(out, after("musllinux_"));
  } else if (tag == "win_amd64") {
    out = {System::windows, "x86_64", {}};
  } else if (tag == "win_arm64") {
    out = {System::windows, "aarch64", {}};
  } else if (tag == "win32") {
    out = {System::windows, "x86", {}};
  } else if (tag.starts_with("macosx_")) {
    out.system = System::macos;
  }
  return out;
}

bool is_native(std::string_view archive_path) {
  const auto name = file_name(archive_path);
  return name.ends_with(".so") || name.ends_with(".pyd") || name.ends_with(".dll") ||
         name.find(".so.") != std::string_view::npos;
}

std::string installed_path(const std::string& path) {
  const auto slash = path.find('/');
  if (slash == std::string::npos || !std::string_view(path).substr(0, slash).ends_with(".data")) return path;
  const std::string rest = path.substr(slash + 1);
  for (const std::string_view part : {"purelib/", "platlib/"})
    if (rest.starts_with(part)) return rest.substr(part.size());
  return {};
}

std::string module_name(std::string_view member) {
  const auto installed = installed_path(std::string(member));
  const std::string_view archive_path = installed.empty() ? member : installed;
  const auto name = file_name(archive_path);
  const auto folder = archive_path.substr(0, archive_path.size() - name.size());
  return replace_all(std::string(folder), "/", ".") + std::string(name.substr(0, name.find('.')));
}

const MemberFacts* Subject::find(std::string_view archive_path) const {
  const auto found = std::ranges::lower_bound(members, archive_path, {}, &MemberFacts::path);
  return found != members.end() && found->path == archive_path ? &*found : nullptr;
}

const MemberFacts* Subject::find_module(std::string_view dotted) const {
  for (const auto& member : members)
    if (is_native(member.path) && module_name(member.path) == dotted) return &member;
  return nullptr;
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
