#include "inspect/system_needs.hpp"
#include "spec/libc_floor.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks/checks.hpp"
#include "verify/torch_abi.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

using System = PlatformTag::System;

/// The newest of one kind ("GLIBC"); the first module that wants it.
const SystemNeed* newest(const std::vector<SystemNeed>& needs, std::string_view kind) {
  const SystemNeed* most = nullptr;
  for (const auto& need : needs)
    if (need.number && need.version.substr(0, need.version.find('_')) == kind &&
        (most == nullptr || *most->number < *need.number))
      most = &need;
  return most;
}

void check_floor(const Spec& spec, const std::vector<SystemNeed>& needs, FindingList& findings) {
  const auto floor = parse_version_number(spec.build.glibc_floor);
  if (!floor) return findings.skipped("LBC004", "the plugin gives no glibc_floor");
  for (const auto& need : needs) {
    if (!need.is_glibc() || !need.number || *need.number <= floor_on(need.machine, *floor)) continue;
    findings.broken("LBC004",
                    fmt::format("it needs {}, the {} plugin's floor is glibc {}", need.text(), spec.name,
                                to_string(floor_on(need.machine, *floor))),
                    need.module,
                    "a source or header brings it in, or the wheel is older than the plugin's glibc_floor");
  }
}

void check_most(const Spec& spec, const std::vector<SystemNeed>& needs, FindingList& findings) {
  const SystemNeed* glibc = newest(needs, "GLIBC");
  const auto most = parse_version_number(spec.verify.glibc_max);
  if (!most) return findings.skipped("LBC002", "the plugin gives no glibc_max");
  if (glibc != nullptr && *most < *glibc->number)
    findings.broken(
        "LBC002",
        fmt::format("it needs {}, the {} plugin allows glibc {}", glibc->text(), spec.name, spec.verify.glibc_max),
        glibc->module, "build on an older system, or against an older sysroot");
}

/// Is every version there on the systems of this tag?
void check_tag(const std::string& text, const std::vector<SystemNeed>& needs, FindingList& findings) {
  const auto tag = parse_platform_tag(text);
  const auto promised = parse_version_number(tag.libc);
  if (tag.system != System::manylinux || !promised) return;
  const SystemNeed* worst = nullptr;
  for (const auto& need : needs) {
    // What is not in the table may be newer than it; but glibc's own numbers need no table.
    const bool there = need.is_glibc() && need.number && *need.number <= *promised;
    if (there || (need.level && *need.level <= *promised)) continue;
    if (worst == nullptr || need.is_stricter_than(*worst)) worst = &need;
  }
  if (worst != nullptr)
    findings.broken("LBC003",
                    fmt::format("the tag {} promises no newer system than glibc {}, a module needs {}", text, tag.libc,
                                worst->text()),
                    worst->module, "installers will choose it on systems where it cannot be loaded");
}

/// Modules for glibc in a wheel for musl, and the other way round.
void check_family(const Artifact& artifact, const std::string& text, FindingList& findings) {
  const auto system = parse_platform_tag(text).system;
  const std::string_view wanted = system == System::manylinux ? "glibc" : system == System::musllinux ? "musl" : "";
  if (wanted.empty()) return;
  for (const auto& member : artifact.members)
    if (member.elf && is_native(member.path) && !member.elf->libc.empty() && member.elf->libc != wanted)
      findings.broken("LBC006", fmt::format("it is for {}, the tag {} is for {}", member.elf->libc, text, wanted),
                      member.path, "it cannot be loaded there");
}

/// Symbols of allowed libraries that not every system of the tag has.
void check_forbidden(const Artifact& artifact, const std::string& text, FindingList& findings) {
  const auto tag = parse_platform_tag(text);
  const auto promised = parse_version_number(tag.libc);
  if (tag.system != System::manylinux || !promised) return;
  for (const auto& member : artifact.members) {
    if (!member.elf || !is_native(member.path)) continue;
    for (const auto& library : member.elf->needed) {
      if (artifact.find_library(library) != nullptr) continue;
      for (const auto& symbol : forbidden_symbols(*promised, library))
        if (std::ranges::binary_search(member.elf->undefined, symbol) &&
            !std::ranges::binary_search(member.elf->undefined_weak, symbol))
          findings.broken("LBC007", fmt::format("not every system of {} has {} in {}", text, symbol, library),
                          member.path, "link that library statically, or leave the symbol alone");
    }
  }
}

/// The oldest tag that has everything, and what keeps it from an older one.
void say_tag(const Artifact& artifact, const std::vector<SystemNeed>& needs, const std::vector<TorchSysroot>& torches,
             FindingList& findings) {
  const auto musl = std::ranges::find_if(artifact.members, [](const MemberFacts& one) {
    return one.elf && is_native(one.path) && one.elf->libc == "musl";
  });
  if (musl != artifact.members.end())
    return findings.note("LBC005",
                         "modules are for musl, whose symbols have no versions: only building on the oldest "
                         "system of the tag makes a musllinux tag true",
                         musl->path);
  const SystemNeed* decides = strictest(needs);
  if (decides == nullptr) return findings.note("LBC005", "no module names a version that it needs");
  if (!decides->level)
    return findings.note("LBC005", fmt::format("no known manylinux tag has {}", decides->text()), decides->module);
  std::string text = fmt::format("modules need no newer system than manylinux_{}_{}_{}: {}", decides->level->major(),
                                 decides->level->minor(), decides->machine, decides->text());
  if (const SystemNeed* glibc = newest(needs, "GLIBC"); glibc != nullptr && !decides->is_glibc())
    text += fmt::format("; of glibc alone {}", glibc->text());
  if (const auto torch = declared_torch(artifact))
    if (const auto* sysroot = find_sysroot(*torch, torches, "linux_" + decides->machine))
      if (const auto its = wheel_platform(*sysroot); !its.empty())
        text += fmt::format("; torch {} itself is tagged {}", sysroot->version, its);
  findings.note("LBC005", text, decides->module);
}

}  // namespace

void check_libc(const Artifact& artifact, const std::vector<TorchSysroot>& torches, FindingList& findings) {
  const auto needs = system_needs(artifact.members);
  std::string text;
  for (const auto kind : {"GLIBC", "GLIBCXX", "CXXABI"})
    if (const SystemNeed* need = newest(needs, kind))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, to_string(*need->number));
  findings.note("LBC001", text.empty() ? "no module names a version that it needs" : "modules need " + text);
  for (const auto& tag : artifact.name.platform) {
    check_tag(tag, needs, findings);
    check_family(artifact, tag, findings);
    check_forbidden(artifact, tag, findings);
  }
  if (artifact.name.platform.empty())
    for (const auto* code : {"LBC003", "LBC006", "LBC007"})
      if (!findings.said(code)) findings.skipped(code, "no tag says for which systems it is");
  say_tag(artifact, needs, torches, findings);
}

void check_libc_limits(const Artifact& artifact, FindingList& findings) {
  const auto needs = system_needs(artifact.members);
  check_most(*artifact.spec, needs, findings);
  check_floor(*artifact.spec, needs, findings);
}

}  // namespace sagekit
