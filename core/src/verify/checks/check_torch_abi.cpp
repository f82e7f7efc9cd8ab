// The torch that modules were linked with, and the symbols that they want of it.
#include "elf/symbol_name.hpp"
#include "spec/libraries.hpp"
#include "spec/symbol_lists.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/artifact.hpp"
#include "verify/checks/checks.hpp"
#include "verify/torch_abi.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace sagekit {

namespace {

/// PyTorch's releases for Linux have been built with the C++ ABI of GCC 5 since this one.
constexpr std::string_view k_first_new_strings = "2.7";

std::string minor_of(const VersionNumber& version) { return fmt::format("{}.{}", version.major(), version.minor()); }

/// "2.7 to 2.9", "2.11", "2.7, 2.13".
std::string list_of(const std::vector<VersionNumber>& fits) {
  const auto known = fits.size() < 2 ? fits : std::vector{fits.front(), fits.back()};
  std::vector<std::string> texts;
  for (const auto& version : known) texts.push_back(minor_of(version));
  return join(texts, " to ");
}

class TorchCheck {
 public:
  TorchCheck(const Artifact& artifact, FindingList& findings)
      : m_artifact(artifact),
        m_findings(findings),
        m_oldest(oldest_torch(artifact)),
        m_promised(promised_from(artifact)) {
    if (const auto declared = declared_torch(artifact))
      if (const auto number = parse_version_number(declared->version)) m_declared = *number;
  }

  void module(const MemberFacts& member) {
    const TorchUse use = torch_use(m_artifact, member);
    if (!use.any()) return;
    strings(use, member);
    if (use.is_stable()) return stable(use, member);
    if (m_promised) promise(use, member);
    linked_with(use, member);
  }

  void end() {
    for (const auto& [text, places] : m_notes)
      m_findings.note("TAB003", places.size() == 1 ? text : fmt::format("{} modules: {}", places.size(), text),
                      places.size() == 1 ? places.front() : "");
    for (const auto code : {"TAB001", "TAB002", "TAB003", "TAB004"})
      m_findings.done(code, m_any ? "" : "no module uses torch");
    m_findings.done("TAB005", m_promised ? "" : "the wheel does not say that it is for every later torch");
  }

 private:
  void say(std::string text, const MemberFacts& member) { m_notes[std::move(text)].push_back(member.path); }

  void strings(const TorchUse& use, const MemberFacts& member) {
    m_any = true;
    const auto old = std::ranges::find_if(use.unstable, wants_old_strings);
    const auto first = parse_version_number(k_first_new_strings);
    if (old == use.unstable.end() || !first || !m_oldest || *m_oldest < *first) return;
    m_findings.broken(
        "TAB001",
        fmt::format("it wants {} with the strings of the C++ ABI before GCC 5, which torch {} does not have",
                    name_for_people(*old), minor_of(*m_oldest)),
        member.path, "compile with -D_GLIBCXX_USE_CXX11_ABI=1");
  }

  void stable(const TorchUse& use, const MemberFacts& member) {
    say(fmt::format("only torch's stable ABI is used, for which torch {} is new enough ({})", minor_of(*use.since),
                    use.newest),
        member);
    if (!m_oldest) {
      if (!m_findings.said("TAB002"))
        m_findings.skipped("TAB002", "nothing says which torch is the oldest that the wheel is for");
      return;
    }
    if (*m_oldest < *use.since && minor_of(*m_oldest) != minor_of(*use.since))
      m_findings.broken("TAB002",
                        fmt::format("it uses {}, which came with torch {}; the wheel allows torch {}", use.newest,
                                    minor_of(*use.since), minor_of(*m_oldest)),
                        member.path, fmt::format("require torch>={}", minor_of(*use.since)));
  }

  /// torch's C++ in a wheel for every later torch: the first release that lacks a name, where one is known to.
  void promise(const TorchUse& use, const MemberFacts& member) {
    std::string what = name_for_people(use.unstable.front());
    std::string end = "which changes with each minor release of torch";
    std::optional<VersionNumber> first;
    for (const auto& symbol : use.unstable) {
      const auto has = torch_releases_with(symbol);
      const auto releases = known_torch_exports();
      for (std::size_t i = 0; i < has.size() && i < releases.size(); ++i) {
        if (has[i] || releases[i] < *m_promised || (first && !(releases[i] < *first))) continue;
        first = releases[i];
        what = name_for_people(symbol);
        end = fmt::format("which torch {} does not have", minor_of(releases[i]));
      }
    }
    m_findings.broken(
        "TAB005",
        fmt::format("it is for torch {} and every newer one, and uses {}, {}", minor_of(*m_promised), what, end),
        member.path, "define TORCH_STABLE_ONLY for all its sources, or name one torch");
  }

  void linked_with(const TorchUse& use, const MemberFacts& member) {
    if (!member.elf) return say("torch's C++ ABI is used, which changes with each minor release", member);
    const auto print = torch_fingerprint(use.unstable);
    const auto old = std::ranges::find_if(use.unstable, wants_old_strings);
    if (old != use.unstable.end())
      say("torch's C++ ABI is used, with the strings of before GCC 5: torch 2.6 or older", member);
    else if (!print)
      say("torch's C++ ABI is used, but nothing of it that tells which torch it was linked with", member);
    else if (print->fits.empty())
      say("torch's C++ ABI is used, as no known torch since 2.7 has it", member);
    else
      say(fmt::format("torch's C++ ABI is used, as torch {} has it", list_of(print->fits)), member);
    if (!print || !m_declared) return;
    if (const auto missing = print->missing_in(*m_declared))
      m_findings.broken(
          "TAB004",
          fmt::format("it wants {}, which torch {} does not have{}", name_for_people(*missing), minor_of(*m_declared),
                      print->fits.empty() ? "" : fmt::format("; torch {} has it", list_of(print->fits))),
          member.path, "it was linked with another torch than the wheel names");
  }

  const Artifact& m_artifact;
  FindingList& m_findings;
  std::optional<VersionNumber> m_oldest, m_declared, m_promised;
  std::map<std::string, std::vector<std::string>> m_notes;  ///< text -> members
  bool m_any = false;
};

}  // namespace

void check_torch_abi(const Artifact& artifact, FindingList& findings) {
  TorchCheck check(artifact, findings);
  for (const auto& [name, member] : artifact.modules()) check.module(*member);
  check.end();
}

namespace {

constexpr std::size_t k_most_symbols_named = 3;

bool needs(const ElfFacts& elf, std::string_view library) {
  return std::ranges::any_of(elf.needed, [&](const std::string& name) { return name.starts_with(library); });
}

/// It names a torch library, or its spec says that it has to. A module linked against stubs without names needs none
/// and has every symbol open: that one must not be passed over.
bool uses_torch(const Artifact& artifact, const std::string& name, const ElfFacts& elf) {
  if (std::ranges::any_of(elf.needed, is_torch_library)) return true;
  const KernelSpec* kernel = artifact.spec == nullptr ? nullptr : known_kernel(*artifact.spec, name);
  return kernel != nullptr && !kernel->torch_free;
}

/// Others than torch have it: versions name their library, which ELF002 judges; the interpreter has Python's own, the
/// driver CUDA's.
bool is_provided(const ElfFacts& elf, std::string_view symbol) {
  if (symbol.starts_with("Py") || symbol.starts_with("_Py")) return true;
  if (symbol.starts_with("cu") && needs(elf, "libcuda.so")) return true;
  return (symbol.starts_with("cuda") || symbol.starts_with("__cuda")) && needs(elf, "libcudart.so");
}

/// The symbols that only torch's libraries can have.
std::vector<std::string> open_symbols(const Artifact& artifact, const ElfFacts& elf) {
  std::set<std::string_view> others(elf.undefined_weak.begin(), elf.undefined_weak.end());
  for (const auto& [version, names] : elf.wanted_by)
    if (!is_torch_library(version)) others.insert(names.begin(), names.end());
  for (const auto& library : elf.needed)
    if (const auto* member = artifact.find_library(library))
      others.insert(member->elf->exports.begin(), member->elf->exports.end());
  std::vector<std::string> open;
  for (const auto& symbol : elf.undefined)
    if (!others.contains(symbol) && !is_provided(elf, symbol)) open.push_back(symbol);
  return open;
}

/// A needed library that nobody here can read: an open symbol may be its.
std::string unread_library(const Artifact& artifact, const ElfFacts& elf, const TorchLibraries& torch) {
  for (const auto& library : elf.needed) {
    if (is_system_library(library) || artifact.find_library(library) != nullptr || torch.has(library)) continue;
    if (library.starts_with("libcudart.so") || library.starts_with("libcuda.so")) continue;
    return library;
  }
  return {};
}

std::string names_of(const std::vector<std::string>& symbols) {
  std::vector<std::string> named;
  for (const auto& symbol : symbols) {
    if (named.size() == k_most_symbols_named) break;
    named.push_back(name_for_people(symbol));
  }
  if (symbols.size() > k_most_symbols_named)
    named.push_back(fmt::format("and {} more", symbols.size() - k_most_symbols_named));
  return join(named, ", ");
}

class SymbolCheck {
 public:
  SymbolCheck(const Artifact& artifact, const VerifyOptions& options, FindingList& findings)
      : m_artifact(artifact), m_torches(options.torches), m_fetch_flags(options.fetch_flags), m_findings(findings) {}

  void module(const MemberFacts& member) {
    const ElfFacts& elf = *member.elf;
    if (const auto least = promised_from(m_artifact); least && torch_use(m_artifact, member).unstable.empty())
      return every_torch(member, *least);
    const auto torch = declared_torch(m_artifact);
    if (!torch) return skip("no torch version is declared, so it is not known what modules find");
    const TorchSysroot* sysroot = find_sysroot(*torch, m_torches, "linux_" + elf.machine);
    if (sysroot == nullptr)
      return skip(fmt::format("no {} on {} here", torch->text(), elf.machine),
                  fmt::format("sagekit toolchain fetch --no-nvcc --torch {} --cuda {} --platform linux_{}{}",
                              newest_release(torch->version), torch->cuda.empty() ? "ITS_CUDA" : torch->cuda,
                              elf.machine, m_fetch_flags));
    auto& libraries = m_libraries.try_emplace(sysroot, sysroot->root / "lib").first->second;
    const auto missing = libraries.missing(open_symbols(m_artifact, elf), elf.needed);
    if (!missing)
      return skip(fmt::format("torch {} here cannot be read: {}", sysroot->version, missing.error().message));
    if (missing->empty()) {
      m_checked = sysroot->version;
      return;
    }
    if (const auto unread = unread_library(m_artifact, elf, libraries); !unread.empty())
      return skip(fmt::format("{} may come from {}, which is not here", names_of(*missing), unread));
    m_findings.broken("ELF007", fmt::format("torch {} does not have {}", sysroot->version, names_of(*missing)),
                      member.path, "it was linked with another torch, or does not name the library that has it");
  }

  /// For a range of torches no copy is needed: what they have in common is a list. What no other library brings must be
  /// on it.
  void every_torch(const MemberFacts& member, const VersionNumber& least) {
    std::vector<std::string> missing;
    for (const auto& symbol : open_symbols(m_artifact, *member.elf)) {
      // It has no C++ of torch: what else is C++ is libstdc++'s, whose names are open without a version
      // where torch exports them too.
      if (symbol.starts_with("_Z") || symbol.starts_with("__cxa_") || symbol.starts_with("__gxx_")) continue;
      const auto since = torch_shim_since(symbol);
      if (!since || *since > least) missing.push_back(symbol);
    }
    if (missing.empty()) {
      m_checked = fmt::format("{} and every newer one", minor_of(least));
      return;
    }
    m_findings.broken("ELF007", fmt::format("torch {} does not have {}", minor_of(least), names_of(missing)),
                      member.path,
                      "the wheel is for that torch and every newer one: compile with TORCH_TARGET_VERSION set to it");
  }

  void end() {
    if (!m_checked.empty())
      m_findings.done("ELF007", fmt::format("torch {} has every symbol that modules leave open", m_checked));
  }

 private:
  /// Each reason once.
  void skip(const std::string& reason, const std::string& hint = {}) {
    if (m_skipped.insert(reason).second) m_findings.skipped("ELF007", reason, hint);
  }

  const Artifact& m_artifact;
  const std::vector<TorchSysroot>& m_torches;
  const std::string& m_fetch_flags;
  FindingList& m_findings;
  std::map<const TorchSysroot*, TorchLibraries> m_libraries;
  std::set<std::string> m_skipped;
  std::string m_checked;
};

}  // namespace

void check_symbols(const Artifact& artifact, const VerifyOptions& options, FindingList& findings) {
  SymbolCheck check(artifact, options, findings);
  bool any = false;
  for (const auto& [name, member] : artifact.modules()) {
    if (!member->elf || !uses_torch(artifact, name, *member->elf)) continue;
    any = true;
    check.module(*member);
  }
  if (!any) return findings.done("ELF007", "no module is linked with torch");
  check.end();
}

}  // namespace sagekit
