#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks.hpp"
#include "verify/expected_modules.hpp"
#include "verify/libraries.hpp"

#include <algorithm>

namespace sagekit {

namespace {

using System = PlatformTag::System;

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

bool is_allowed(const VerifySpec& rules, std::string_view library) {
  return std::ranges::any_of(rules.needed_allowed, [&](const std::string& glob) { return glob_match(glob, library); });
}

void check_needed(const Subject& subject, const MemberFacts& member, Judgement& judgement) {
  for (const auto& needed : member.elf->needed) {
    if (needed.starts_with("libpython")) {
      judgement.broken("ELF002", fmt::format("it needs {}: most Pythons have no such library", needed), member.path,
                       "extension modules leave Python's symbols to the interpreter");
      continue;
    }
    if (is_system_library(needed) || library_of_wheel(subject, needed) != nullptr) continue;
    if (subject.spec == nullptr || is_allowed(subject.spec->verify, needed)) continue;
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
}

}  // namespace sagekit
