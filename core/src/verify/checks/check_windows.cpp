// What only Windows modules can get wrong: the DLLs they need, their C runtime, how they are laid out in memory, and
// where their exceptions go.
#include "elf/python_library.hpp"
#include "spec/libraries.hpp"
#include "spec/symbol_lists.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/artifact.hpp"
#include "verify/checks/checks.hpp"
#include "verify/torch_abi.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

namespace {

bool is_ucrt(std::string_view dll) { return dll.starts_with("api-ms-win-crt-") || dll == "ucrtbase.dll"; }

/// What mingw's compilers bring, and can link in.
bool is_compiler_runtime(std::string_view dll) {
  return dll.starts_with("libgcc_s") || dll.starts_with("libstdc++") || dll.starts_with("libwinpthread");
}

/// The names that a module imports from one of the DLLs that `is` tells.
template <class Is>
std::vector<std::string> imported_from(const PeFacts& pe, Is is) {
  std::vector<std::string> all;
  for (const auto& [library, names] : pe.imported)
    if (is(lower(library))) all.insert(all.end(), names.begin(), names.end());
  return all;
}

bool is_torch_dll(std::string_view dll) {
  return std::ranges::any_of(library_origins(dll), [](const LibraryOrigin& origin) { return origin.torch; });
}

class WindowsCheck {
 public:
  WindowsCheck(const Artifact& artifact, FindingList& findings)
      : m_artifact(artifact), m_findings(findings), m_promised(promised_from(artifact)) {}

  void module(const MemberFacts& member) {
    const PeFacts& pe = *member.pe;
    libraries(member, pe);
    runtime(member, pe);
    memory(member, pe);
    if (pe.debug_path.find_first_of("/\\") != std::string::npos)
      m_findings.broken("WIN004", fmt::format("it names the file with its symbols as {}", pe.debug_path), member.path,
                        "link with /PDBALTPATH:%_PDB%, or without /DEBUG");
    exceptions(member, pe);
    torch_names(member, pe);
  }

 private:
  void libraries(const MemberFacts& member, const PeFacts& pe) {
    std::vector<std::string> nobody;
    for (const auto& library : pe.imports) {
      const auto dll = lower(library);
      const bool known = is_windows_library(dll) || python_of_library(dll) || !library_origins(dll).empty();
      if (!known && !m_artifact.has_dll(dll)) nobody.push_back(library);
    }
    if (nobody.empty()) return;
    const bool own =
        std::ranges::all_of(nobody, [](const std::string& dll) { return is_compiler_runtime(lower(dll)); });
    m_findings.broken(
        "WIN001",
        fmt::format("it needs {}, which neither Windows, Python, torch nor the wheel brings", join(nobody, ", ")),
        member.path,
        own ? "link that library in: -static-libgcc -static-libstdc++ and a static winpthread with mingw"
            : "require the package that brings it, or put it into the wheel");
  }

  void runtime(const MemberFacts& member, const PeFacts& pe) {
    const auto has = [&](auto is) {
      return std::ranges::any_of(pe.imports, [&](const std::string& library) { return is(lower(library)); });
    };
    if (!has([](const std::string& dll) { return dll == "msvcrt.dll"; })) return;
    if (has([](const std::string& dll) { return is_ucrt(dll) || dll.starts_with("vcruntime"); }))
      m_findings.broken("WIN002",
                        "it uses two C runtimes, msvcrt.dll and Universal CRT: each has its own heap and files",
                        member.path, "build all of it with one runtime, the Universal CRT");
    else
      m_findings.note(
          "WIN002",
          "its C runtime is msvcrt.dll, that of Python and torch the Universal CRT: no FILE and no allocated "
          "memory may be handed from one to the other",
          member.path);
  }

  void memory(const MemberFacts& member, const PeFacts& pe) {
    std::vector<std::string> lacking;
    if (!pe.dynamic_base) lacking.emplace_back("/DYNAMICBASE");
    if (!pe.high_entropy) lacking.emplace_back("/HIGHENTROPYVA");
    if (!pe.no_execute) lacking.emplace_back("/NXCOMPAT");
    if (!lacking.empty())
      m_findings.broken(
          "WIN003", fmt::format("it is linked without {}", join(lacking, ", ")), member.path,
          "these are the defaults of link.exe; with mingw: -Wl,--dynamicbase,--high-entropy-va,--nxcompat");
  }

  /// GCC's exceptions are Windows' own by name only: those of MSVC's frames, torch's among them, do not know them.
  void exceptions(const MemberFacts& member, const PeFacts& pe) {
    const auto microsoft = [](const std::string& dll) { return dll.starts_with("vcruntime"); };
    const auto crt = [](const std::string& dll) { return dll == "msvcrt.dll" || is_ucrt(dll); };
    const auto any = [&](auto is) {
      return std::ranges::any_of(pe.imports, [&](const std::string& library) { return is(lower(library)); });
    };
    const auto kernel = imported_from(pe, [](const std::string& dll) { return dll == "kernel32.dll"; });
    const bool gcc_throws = any(crt) && !any(microsoft) && contains(kernel, "RaiseException");
    const auto torch = imported_from(pe, [](const std::string& dll) { return is_torch_dll(dll); });
    if (!gcc_throws || torch.empty() || contains(torch, "aoti_torch_check")) return;
    m_findings.broken(
        "WIN005",
        "it was built with mingw and throws C++ exceptions, and nothing hands them over to torch: a check "
        "that fails ends the process",
        member.path, "catch everything at the module's edge, and let aoti_torch_check() throw torch's own");
  }

  /// Names of a wheel for every later torch: no copy is needed, what all have in common is a list.
  void torch_names(const MemberFacts& member, const PeFacts& pe) {
    if (!m_promised) return;
    std::vector<std::string> missing;
    for (const auto& name : imported_from(pe, [](const std::string& dll) { return is_torch_dll(dll); })) {
      if (name.starts_with('?')) continue;  // C++: TAB005
      const auto since = torch_shim_since(name);
      if (!since)
        missing.push_back(name);
      else if (*since > *m_promised)
        missing.push_back(fmt::format("{} (from torch {} on)", name, to_string(*since)));
    }
    if (!missing.empty())
      m_findings.broken("WIN006",
                        fmt::format("torch {} does not export {}", to_string(*m_promised), join(missing, ", ")),
                        member.path, "compile with TORCH_TARGET_VERSION set to the oldest torch");
  }

  const Artifact& m_artifact;
  FindingList& m_findings;
  std::optional<VersionNumber> m_promised;
};

}  // namespace

bool has_windows_modules(const Artifact& artifact) {
  return std::ranges::any_of(artifact.modules(), [](const auto& one) { return one.second->pe.has_value(); });
}

void check_was_run(const Artifact& artifact, FindingList& findings) {
  const auto label = artifact.experimental();
  if (label.empty() && artifact.provenance.platform.empty())  // without a record it is anybody's wheel
    return findings.skipped("WIN008", "no record in it says whether somebody ran it there");
  if (label.empty()) return;
  findings.broken("WIN008", fmt::format("experimental: {}; what is said here is by its files alone", label), {},
                  "run the script of docs/windows.md there and post what it prints");
}

void check_windows(const Artifact& artifact, FindingList& findings) {
  WindowsCheck check(artifact, findings);
  for (const auto& [name, member] : artifact.modules())
    if (member->pe) check.module(*member);
}

}  // namespace sagekit
