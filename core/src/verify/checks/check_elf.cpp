// What the loader will find in each module, and the libraries that modules need.
#include "pypa/requirement_reader.hpp"
#include "spec/libc_floor.hpp"
#include "spec/libraries.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks/checks.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

using System = PlatformTag::System;

void check_machine(const Artifact& artifact, const MemberFacts& member, FindingList& findings) {
  const std::string machine = member.elf ? member.elf->machine : member.pe ? member.pe->machine : "";
  for (const auto& text : artifact.name.platform) {
    const auto tag = parse_platform_tag(text);
    const bool linux =
        tag.system == System::linux || tag.system == System::manylinux || tag.system == System::musllinux;
    if ((linux && !member.elf) || (tag.system == System::windows && !member.pe)) {
      findings.broken("ELF006", fmt::format("{} is no module that a {} system loads", base_name(member.path), text),
                      member.path);
    } else if (!tag.machine.empty() && !machine.empty() && tag.machine != machine) {
      findings.broken("ELF001", fmt::format("it is for {}, the wheel is tagged {}", machine, text), member.path);
    }
  }
}

void check_run_paths(const MemberFacts& member, FindingList& findings) {
  for (const auto& paths : member.elf->run_paths)
    for (const auto& path : split(paths, ':')) {
      if (path == "$ORIGIN" || path.starts_with("$ORIGIN/") || path == "${ORIGIN}" || path.starts_with("${ORIGIN}/"))
        continue;
      findings.broken("ELF003",
                      path.empty() ? "its run path has an empty entry, which means the current folder"
                      : path.starts_with('/')
                          ? fmt::format("its run path has {}, a place of the build machine", path)
                          : fmt::format("its run path has {}, which is below the current folder", path),
                      member.path);
    }
}

/// What the loader must do to the process for this module.
void check_memory(const MemberFacts& member, FindingList& findings) {
  const ElfFacts& elf = *member.elf;
  if (elf.executable_stack)
    findings.broken("ELF004", "it asks for an executable stack, which hardened systems refuse", member.path,
                    "link with -z noexecstack");
  if (elf.text_relocations)
    findings.broken("ELF008", "the loader must write into its code, which hardened systems refuse", member.path,
                    "compile everything that is linked into it with -fPIC");
  if (elf.writable_code)
    findings.broken("ELF009", "a segment of it is writable and executable at once", member.path,
                    "link without -z rwx or --omagic; look for linker scripts");
  if (elf.relro == "none" && !elf.needed.empty())
    findings.broken("ELF013", "its tables of addresses stay writable", member.path, "link with -z relro");
}

void check_elf(const MemberFacts& member, FindingList& findings) {
  const ElfFacts& elf = *member.elf;
  check_run_paths(member, findings);
  check_memory(member, findings);
  if (elf.debug_info)
    findings.broken("ELF005", fmt::format("it carries {} KiB of debug information", (elf.debug_bytes + 1023) / 1024),
                    member.path, "compile without -g, or strip it");
  if (!elf.position_independent)
    findings.broken("ELF010", "it is a program, which no process can load as a library", member.path,
                    "link it with -shared");
  if (!elf.isa.empty() && elf.isa != "x86-64-v1")
    findings.note("ELF014", fmt::format("it asks for a processor of {}", elf.isa), member.path);
}

}  // namespace

void check_modules(const Artifact& artifact, FindingList& findings) {
  for (const auto& [name, member] : artifact.modules()) {
    findings.read_problems(member->problems, member->path);
    check_machine(artifact, *member, findings);
    if (member->elf) check_elf(*member, findings);
  }
  if (artifact.name.platform.empty())
    for (const auto* code : {"ELF001", "ELF006"})
      if (!findings.said(code)) findings.skipped(code, "no tag says for which system it is");
  findings.done("ELF014", "no module asks for a newer processor than its machine's first");
}

namespace {

using System = PlatformTag::System;

constexpr std::string_view k_toolkit = "cuda-toolkit";  // NVIDIA's package that requires the others

bool is_allowed(const VerifySpec& rules, std::string_view library) {
  return std::ranges::any_of(rules.needed_allowed, [&](const std::string& glob) { return glob_match(glob, library); });
}

/// "13" of "13.0"; 0 = not known.
int major_of(const std::string& cuda) {
  const auto number = parse_version_number(cuda);
  return number ? static_cast<int>(number->major()) : 0;
}

/// Where a member lies once it is installed; what goes elsewhere stays where it is in the wheel.
std::string place_of(const std::string& path) {
  auto place = installed_path(path);
  return place.empty() ? path : place;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

/// Where "$ORIGIN/../x.libs" leads from `folder`; nothing when it leaves the wheel.
std::optional<std::string> resolve(const std::string& run_path, const std::string& folder) {
  std::string rest;
  for (const std::string_view origin : {"$ORIGIN", "${ORIGIN}"})
    if (run_path.starts_with(origin)) rest = folder + run_path.substr(origin.size());
  if (rest.empty() && !folder.empty()) return {};
  std::vector<std::string> parts;
  for (auto& part : split(rest, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(std::move(part));
    } else if (parts.empty()) {
      return {};
    } else {
      parts.pop_back();
    }
  }
  return join(parts, "/");
}

class LibraryCheck {
 public:
  LibraryCheck(const Artifact& artifact, FindingList& findings) : m_artifact(artifact), m_findings(findings) {
    const auto& lines = artifact.wheel != nullptr ? artifact.wheel->requires_dist : artifact.provenance.requires_dist;
    for (const auto& line : lines) m_required.insert(requirement_name(line));
    m_required.insert(normalized_project(artifact.name.distribution));
    m_cuda = major_of(artifact.provenance.cuda);
  }

  void module(const MemberFacts& member) {
    if (member.elf)
      for (const auto& library : member.elf->needed) elf_library(member, library);
    if (member.pe)
      for (const auto& library : member.pe->imports) need(member, library, library_origins(library), false);
    report(member);
  }

 private:
  void elf_library(const MemberFacts& member, const std::string& library) {
    if (library.starts_with("libpython"))
      return m_findings.broken("ELF002", fmt::format("it needs {}: most Pythons have no such library", library),
                               member.path, "extension modules leave Python's symbols to the interpreter");
    if (const auto* own = m_artifact.find_library(library)) return own_library(member, library, *own);
    if (is_promised(library)) return;
    const bool by_spec = m_artifact.spec != nullptr;
    if (by_spec && !is_allowed(m_artifact.spec->verify, library)) return nobody(library);
    need(member, library, library_origins(library), !by_spec);
  }

  /// Do all systems have it that the wheel is tagged for?
  bool is_promised(const std::string& library) const {
    if (library.starts_with("ld-linux")) return true;
    bool tagged = false;
    for (const auto& text : m_artifact.name.platform) {
      const auto tag = parse_platform_tag(text);
      if (tag.system == System::musllinux)
        return library.starts_with("libc.musl-") || library == "libc.so" || library == "libz.so.1" ||
               library.starts_with("ld-musl-");
      const auto version = tag.system == System::manylinux ? parse_version_number(tag.libc) : std::unexpected(Error{});
      if (!version) continue;
      tagged = true;
      if (!has_manylinux_library(*version, library) && !is_system_library(library)) return false;
    }
    return tagged || is_system_library(library) || has_manylinux_library(k_any_system, library);
  }

  /// `all`: libraries of unknown origin count too.
  void need(const MemberFacts& member, const std::string& library, const std::vector<LibraryOrigin>& origins,
            bool all) {
    if (origins.empty()) {
      if (all) nobody(library);
      return;
    }
    if (std::ranges::any_of(origins, [&](const LibraryOrigin& origin) { return is_provided(origin); })) return;
    const bool other_cuda = m_cuda != 0 && std::ranges::none_of(origins, [&](const LibraryOrigin& origin) {
                              return origin.cuda == m_cuda || origin.cuda == 0;
                            });
    if (other_cuda)
      return m_findings.broken("ELF002",
                               fmt::format("it needs {} of CUDA {}, the wheel is for CUDA {}", library,
                                           origins.front().cuda, m_artifact.provenance.cuda),
                               member.path, "it was linked with another CUDA toolkit");
    if (m_artifact.spec != nullptr) return;  // it allows the library
    m_unnamed.push_back(library);
    m_provider = origins.front().package;
  }

  bool is_provided(const LibraryOrigin& origin) const {
    if (origin.driver) return true;
    const bool torch = m_required.contains("torch");
    if (origin.torch) return torch || (m_artifact.spec != nullptr && m_required.empty());
    if (m_cuda != 0 && origin.cuda != m_cuda) return m_required.contains(origin.package);
    return torch || m_required.contains(std::string(k_toolkit)) || m_required.contains(origin.package);
  }

  void nobody(const std::string& library) { m_nobody.push_back(library); }

  /// One finding for all libraries of a module.
  void report(const MemberFacts& member) {
    if (!m_nobody.empty())
      m_findings.broken(
          "ELF002",
          fmt::format("it needs {}, which neither the system nor the wheel has; no requirement is known to bring it",
                      join(m_nobody, ", ")),
          member.path);
    if (!m_unnamed.empty())
      m_findings.broken("ELF002",
                        fmt::format("it needs {}, and no Requires-Dist names who brings that", join(m_unnamed, ", ")),
                        member.path, fmt::format("a user has it by chance only; require {}", m_provider));
    m_nobody.clear();
    m_unnamed.clear();
  }

  void own_library(const MemberFacts& member, const std::string& library, const MemberFacts& own) {
    const bool by_name = std::ranges::any_of(
        m_artifact.members, [&](const MemberFacts& one) { return base_name(one.path) == library && one.elf; });
    if (!by_name)
      return m_findings.broken(
          "ELF011", fmt::format("it needs {}, which lies in the wheel as {} only", library, base_name(own.path)),
          member.path, "the loader looks for the file's name; it is found only when something loaded it before");
    const auto folder = folder_of(place_of(member.path));
    for (const auto& run_path : member.elf->run_paths)
      if (const auto place = resolve(run_path, folder); place && holds(*place, library)) return;
    m_findings.broken("ELF012", fmt::format("no run path of it leads to {}, which lies in the wheel", library),
                      member.path, "something must load it first; a run path of $ORIGIN/... would do");
  }

  bool holds(const std::string& folder, const std::string& library) const {
    const auto path = folder.empty() ? library : folder + "/" + library;
    return std::ranges::any_of(m_artifact.members, [&](const MemberFacts& one) { return place_of(one.path) == path; });
  }

  inline static const VersionNumber k_any_system = parse_version_number("999").value_or(VersionNumber{});

  const Artifact& m_artifact;
  FindingList& m_findings;
  std::set<std::string> m_required;
  int m_cuda = 0;
  std::vector<std::string> m_nobody, m_unnamed;  ///< of the module that is looked at
  std::string m_provider;
};

}  // namespace

void check_libraries(const Artifact& artifact, FindingList& findings) {
  LibraryCheck check(artifact, findings);
  for (const auto& [name, member] : artifact.modules()) check.module(*member);
}

}  // namespace sagekit
