#include "spec/libc_floor.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks.hpp"
#include "verify/declared_torch.hpp"
#include "verify/libraries.hpp"
#include "inspect/symbol_name.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

namespace {

using System = PlatformTag::System;

constexpr std::array<std::string_view, 4> k_kinds{"GLIBC", "GLIBCXX", "CXXABI", "GCC"};

/// A symbol version that a module wants.
struct Need {
  std::string kind;  ///< "GLIBC"
  VersionNumber number;
  std::string version;  ///< "2.17"
  std::string symbol;   ///< one that wants it; "" = the module does not say which
  std::string module, machine;

  /// "GLIBC_2.32 for __libc_single_threaded"
  std::string text() const {
    const auto name = fmt::format("{}_{}", kind, version);
    return symbol.empty() ? name : fmt::format("{} for {}", name, name_for_people(symbol));
  }
};

/// All versions of the system's libraries that modules want.
std::vector<Need> needs_of(const Subject& subject) {
  std::vector<Need> needs;
  for (const auto& member : subject.members) {
    if (!member.elf || !is_native(member.path)) continue;
    for (const auto& wanted : member.elf->wanted_versions) {
      const auto name = std::string_view(wanted).substr(wanted.find(':') + 1);
      const auto bar = name.rfind('_');
      if (bar == std::string_view::npos || std::ranges::count(k_kinds, name.substr(0, bar)) == 0) continue;
      const auto number = parse_version_number(name.substr(bar + 1));
      if (!number) continue;  // GLIBC_PRIVATE and the like
      const auto by = member.elf->wanted_by.find(wanted);
      needs.push_back({std::string(name.substr(0, bar)), *number, std::string(name.substr(bar + 1)),
                       by == member.elf->wanted_by.end() ? "" : by->second.front(), member.path, member.elf->machine});
    }
  }
  return needs;
}

/// The newest of one kind; the first module that wants it.
const Need* newest(const std::vector<Need>& needs, std::string_view kind) {
  const Need* most = nullptr;
  for (const auto& need : needs)
    if (need.kind == kind && (most == nullptr || most->number < need.number)) most = &need;
  return most;
}

void check_floor(const Spec& spec, const std::vector<Need>& needs, Judgement& judgement) {
  const auto floor = parse_version_number(spec.build.glibc_floor);
  if (!floor) return;
  for (const auto& need : needs) {
    if (need.kind != "GLIBC" || need.number <= floor_on(need.machine, *floor)) continue;
    judgement.broken("LBC004",
                     fmt::format("it needs {}, the {} plugin's floor is glibc {}", need.text(), spec.name,
                                 to_string(floor_on(need.machine, *floor))),
                     need.module,
                     "a source or header brings it in, or the wheel is older than the plugin's glibc_floor");
  }
  judgement.done("LBC004");
}

/// The oldest tag that has everything, and what keeps it from an older one.
void say_tag(const Subject& subject, const std::vector<Need>& needs, const std::vector<TorchSysroot>& torches,
             Judgement& judgement) {
  const Need* decides = nullptr;
  std::optional<VersionNumber> tag;
  for (const auto& need : needs) {
    const auto level = manylinux_level(need.machine, need.kind, need.number);
    if (!level) return judgement.note("LBC005", fmt::format("no known manylinux tag has {}", need.text()), need.module);
    if (!tag || *tag < *level) tag = level, decides = &need;
  }
  if (decides == nullptr) return;
  const auto name = [&](const VersionNumber& glibc) {
    return fmt::format("manylinux_{}_{}_{}", glibc.major(), glibc.minor(), decides->machine);
  };
  std::string text = fmt::format("modules need no newer system than {}: {}", name(*tag), decides->text());
  if (const Need* glibc = newest(needs, "GLIBC"); glibc != nullptr && decides->kind != "GLIBC")
    text += fmt::format("; of glibc alone {}", glibc->text());
  if (const auto torch = declared_torch(subject))
    if (const auto* sysroot = find_sysroot(*torch, torches, decides->machine))
      if (const auto its = wheel_platform(*sysroot); !its.empty())
        text += fmt::format("; torch {} itself is tagged {}", sysroot->version, its);
  judgement.note("LBC005", text, decides->module);
}

}  // namespace

void check_libc(const Subject& subject, const std::vector<TorchSysroot>& torches, Judgement& judgement) {
  const auto needs = needs_of(subject);
  std::string text;
  for (const auto kind : {"GLIBC", "GLIBCXX", "CXXABI"})
    if (const Need* need = newest(needs, kind))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, need->version);
  if (!text.empty()) judgement.note("LBC001", "modules need " + text);

  const Need* glibc = newest(needs, "GLIBC");
  if (subject.spec != nullptr && !subject.spec->verify.glibc_max.empty() && glibc != nullptr) {
    const auto most = parse_version_number(subject.spec->verify.glibc_max);
    if (most && *most < glibc->number)
      judgement.broken("LBC002",
                       fmt::format("it needs glibc {}, the {} plugin allows {}", glibc->version, subject.spec->name,
                                   subject.spec->verify.glibc_max),
                       glibc->module, "build on an older system, or against an older sysroot");
    judgement.done("LBC002");
  }
  for (const auto& tag : subject.name.platform) {
    const auto platform = parse_platform_tag(tag);
    if (platform.system != System::manylinux || glibc == nullptr) continue;
    const auto promised = parse_version_number(platform.libc);
    if (promised && *promised < glibc->number)
      judgement.broken(
          "LBC003", fmt::format("the tag {} promises glibc {}, a module needs {}", tag, platform.libc, glibc->version),
          glibc->module, "installers will choose it on systems where it cannot be loaded");
  }
  judgement.done("LBC003");
  if (subject.spec != nullptr) check_floor(*subject.spec, needs, judgement);
  say_tag(subject, needs, torches, judgement);
}

}  // namespace sagekit
