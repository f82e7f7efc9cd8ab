#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks.hpp"

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

void check_run_paths(const MemberFacts& member, Judgement& judgement) {
  for (const auto& paths : member.elf->run_paths)
    for (const auto& path : split(paths, ':')) {
      if (path == "$ORIGIN" || path.starts_with("$ORIGIN/") || path == "${ORIGIN}" || path.starts_with("${ORIGIN}/"))
        continue;
      judgement.broken("ELF003",
                       path.empty() ? "its run path has an empty entry, which means the current folder"
                       : path.starts_with('/')
                           ? fmt::format("its run path has {}, a place of the build machine", path)
                           : fmt::format("its run path has {}, which is below the current folder", path),
                       member.path);
    }
}

/// What the loader must do to the process for this module.
void check_memory(const MemberFacts& member, Judgement& judgement) {
  const ElfFacts& elf = *member.elf;
  if (elf.executable_stack)
    judgement.broken("ELF004", "it asks for an executable stack, which hardened systems refuse", member.path,
                     "link with -z noexecstack");
  if (elf.text_relocations)
    judgement.broken("ELF008", "the loader must write into its code, which hardened systems refuse", member.path,
                     "compile everything that is linked into it with -fPIC");
  if (elf.writable_code)
    judgement.broken("ELF009", "a segment of it is writable and executable at once", member.path,
                     "link without -z rwx or --omagic; look for linker scripts");
  if (elf.relro == "none" && !elf.needed.empty())
    judgement.broken("ELF013", "its tables of addresses stay writable", member.path, "link with -z relro");
}

void check_elf(const MemberFacts& member, Judgement& judgement) {
  const ElfFacts& elf = *member.elf;
  check_run_paths(member, judgement);
  check_memory(member, judgement);
  if (elf.debug_info)
    judgement.broken("ELF005", fmt::format("it carries {} KiB of debug information", (elf.debug_bytes + 1023) / 1024),
                     member.path, "compile without -g, or strip it");
  if (!elf.position_independent)
    judgement.broken("ELF010", "it is a program, which no process can load as a library", member.path,
                     "link it with -shared");
  if (!elf.isa.empty() && elf.isa != "x86-64-v1")
    judgement.note("ELF014", fmt::format("it asks for a processor of {}", elf.isa), member.path);
}

}  // namespace

void check_modules(const Subject& subject, Judgement& judgement) {
  for (const auto& [name, member] : subject.modules()) {
    judgement.read_problems(member->problems, member->path);
    check_machine(subject, *member, judgement);
    if (member->elf) check_elf(*member, judgement);
  }
  judgement.done("ELF014", "no module asks for a newer processor than its machine's first");
}

}  // namespace sagekit
