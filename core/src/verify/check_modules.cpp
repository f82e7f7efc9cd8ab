#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks.hpp"
#include "verify/expected_modules.hpp"

#include <algorithm>

namespace sagekit {

namespace {

using System = PlatformTag::System;

/// Libraries that every Linux with this C library has.
const std::vector<std::string>& system_libraries() {
  static const std::vector<std::string> names{"libc.so.6",      "libm.so.6",      "libdl.so.2",    "libpthread.so.0",
                                              "librt.so.1",     "libutil.so.1",   "libgcc_s.so.1", "libstdc++.so.6",
                                              "ld-linux*.so.*", "linux-vdso.so.1"};
  return names;
}

std::string_view base_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

bool matches(const std::vector<std::string>& globs, std::string_view name) {
  return std::ranges::any_of(globs, [&](const std::string& glob) { return glob_match(glob, name); });
}

void check_machine(const Subject& subject, const MemberFacts& member, Judgement& judgement) {
  const std::string machine = member.elf ? member.elf->machine : member.pe ? member.pe->machine : "";
  for (const auto& text : subject.name.platform) {
    const auto tag = parse_platform_tag(text);
    const bool linux =
        tag.system == System::linux || tag.system == System::manylinux || tag.system == System::musllinux;
    if ((linux && !member.elf) || (tag.system == System::windows && !member.pe)) {
      judgement.broken("ELF006", fmt::format("{} is no module that a {} system loads", base_name(member.path), text),
                       member.path);
    } else if (!tag.machine.empty() && !machine.empty() && tag.machine != machine) {
      judgement.broken("ELF001", fmt::format("it is for {}, the wheel is tagged {}", machine, text), member.path);
    }
  }
}

void check_needed(const Subject& subject, const MemberFacts& member, Judgement& judgement) {
  for (const auto& needed : member.elf->needed) {
    if (needed.starts_with("libpython")) {
      judgement.broken("ELF002", fmt::format("it needs {}: most Pythons have no such library", needed), member.path,
                       "extension modules leave Python's symbols to the interpreter");
      continue;
    }
    const bool inside = std::ranges::any_of(subject.members, [&](const MemberFacts& other) {
      return other.elf && (other.elf->soname == needed || base_name(other.path) == needed);
    });
    if (inside || matches(system_libraries(), needed)) continue;
    if (subject.spec == nullptr || matches(subject.spec->verify.needed_allowed, needed)) continue;
    judgement.broken("ELF002",
                     fmt::format("it needs {}, which neither the system, the wheel nor its requirements bring", needed),
                     member.path);
  }
}

void check_run_paths(const MemberFacts& member, Judgement& judgement) {
  for (const auto& paths : member.elf->run_paths)
    for (const auto& path : split(paths, ':')) {
      if (path == "$ORIGIN" || path.starts_with("$ORIGIN/") || path == "${ORIGIN}" || path.starts_with("${ORIGIN}/"))
        continue;
      judgement.broken("ELF003",
                       path.empty() ? "its run path has an empty entry, which means the current folder"
                                    : fmt::format("its run path has {}, a place of the build machine", path),
                       member.path);
    }
}

void check_elf(const Subject& subject, const MemberFacts& member, Judgement& judgement) {
  check_needed(subject, member, judgement);
  check_run_paths(member, judgement);
  if (member.elf->executable_stack)
    judgement.broken("ELF004", "it asks for an executable stack, which hardened systems refuse", member.path,
                     "link with -z noexecstack");
  if (member.elf->debug_info)
    judgement.broken("ELF005", "it carries debug information", member.path, "compile without -g, or strip it");
}

struct Need {
  VersionNumber number;
  std::string text, where;
};

/// The newest symbol version of one kind over all modules.
std::optional<Need> newest(const Subject& subject, const std::string& kind) {
  std::optional<Need> most;
  for (const auto& member : subject.members) {
    if (!member.elf) continue;
    const auto found = member.elf->versions.find(kind);
    if (found == member.elf->versions.end()) continue;
    const auto number = parse_version_number(found->second);
    if (number && (!most || most->number < *number)) most = Need{*number, found->second, member.path};
  }
  return most;
}

void check_libc(const Subject& subject, Judgement& judgement) {
  std::string text;
  for (const std::string kind : {"GLIBC", "GLIBCXX", "CXXABI"})
    if (const auto need = newest(subject, kind))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, need->text);
  if (!text.empty()) judgement.note("LBC001", "modules need " + text);

  const auto glibc = newest(subject, "GLIBC");
  if (subject.spec != nullptr && !subject.spec->verify.glibc_max.empty() && glibc) {
    const auto most = parse_version_number(subject.spec->verify.glibc_max);
    if (most && *most < glibc->number)
      judgement.broken("LBC002",
                       fmt::format("it needs glibc {}, the {} plugin allows {}", glibc->text, subject.spec->name,
                                   subject.spec->verify.glibc_max),
                       glibc->where, "build on an older system, or against an older sysroot");
    judgement.done("LBC002");
  }
  for (const auto& tag : subject.name.platform) {
    const auto platform = parse_platform_tag(tag);
    if (platform.system != System::manylinux || !glibc) continue;
    const auto promised = parse_version_number(platform.libc);
    if (promised && *promised < glibc->number)
      judgement.broken("LBC003",
                       fmt::format("the tag {} promises glibc {}, a module needs {}", tag, platform.libc, glibc->text),
                       glibc->where, "installers will choose it on systems where it cannot be loaded");
  }
  judgement.done("LBC003");
}

/// Python loads it by its name: all but the libraries that a spec has for ctypes. Without a spec NAME.so may be either.
bool is_extension(const Subject& subject, const std::string& name, const MemberFacts& member) {
  const KernelSpec* kernel = subject.spec == nullptr ? nullptr : known_kernel(*subject.spec, name);
  if (kernel != nullptr) return !kernel->plain_module;
  return !member.python_abi.empty() && member.python_abi != "none";
}

void check_suffix(const Subject& subject, const std::string& name, const MemberFacts& member, Judgement& judgement) {
  if (!is_extension(subject, name, member) || member.python_abi == "abi3") return;
  const auto& abi = subject.name.abi;
  if (member.python_abi.empty() || member.python_abi == "none") {
    if (std::ranges::count(abi, "none") == 0)
      judgement.broken("PYA001", "its name says no Python, so every Python would load it", member.path);
  } else if (std::ranges::count(abi, member.python_abi) == 0) {
    judgement.broken("PYA001", fmt::format("it is for {}, the wheel is tagged {}", member.python_abi, join(abi, ".")),
                     member.path, "that Python will not find it");
  }
  for (const auto& text : subject.name.platform) {
    const auto tag = parse_platform_tag(text);
    const auto file = base_name(member.path);
    if (!tag.machine.empty() && file.find("-linux-gnu.") != std::string_view::npos &&
        file.find("-" + tag.machine + "-linux-gnu.") == std::string_view::npos)
      judgement.broken("PYA001", fmt::format("its name is for another machine than {}", text), member.path);
  }
}

void check_init(const Subject& subject, const std::string& name, const MemberFacts& member, Judgement& judgement) {
  if (!is_extension(subject, name, member)) return;
  const auto last = name.substr(name.rfind('.') + 1);
  const auto& exports = member.elf ? member.elf->exports : member.pe ? member.pe->exports : std::vector<std::string>{};
  if (std::ranges::count(exports, "PyInit_" + last) == 0)
    judgement.broken("PYA002", fmt::format("it exports no PyInit_{}", last), member.path, "Python cannot import it");
}

}  // namespace

void check_modules(const Subject& subject, Judgement& judgement) {
  const auto modules = subject.modules();
  for (const auto& [name, member] : modules) {
    judgement.read_problems(member->problems, member->path);
    check_machine(subject, *member, judgement);
    if (member->elf) check_elf(subject, *member, judgement);
    check_suffix(subject, name, *member, judgement);
    check_init(subject, name, *member, judgement);
  }
  if (subject.spec == nullptr && !modules.empty())
    judgement.skipped("ELF002", "which libraries its requirements bring is known to no loaded plugin");
  for (const auto code : {"ELF001", "ELF002", "ELF003", "ELF004", "ELF005", "ELF006", "PYA001", "PYA002"})
    judgement.done(code);
  check_libc(subject, judgement);
}

}  // namespace sagekit
