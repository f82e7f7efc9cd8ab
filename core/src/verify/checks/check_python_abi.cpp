// What modules use of Python, against what the wheel promises about Python.
#include "elf/python_library.hpp"
#include "spec/symbol_lists.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/artifact.hpp"
#include "verify/checks/checks.hpp"

#include <sagekit/version_number.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace sagekit {

namespace {

/// "cp310" -> 3.10; nothing for py3 and others.
std::optional<VersionNumber> version_of_tag(std::string_view tag) {
  if (!tag.starts_with("cp") || tag.size() < 4 || !is_digits(tag.substr(2))) return {};
  const auto number = parse_version_number(std::string(tag.substr(2, 1)) + "." + std::string(tag.substr(3)));
  return number ? std::optional(*number) : std::nullopt;
}

/// "3.9" of ">=3.9,<4".
std::optional<VersionNumber> lower_bound(const std::string& range) {
  for (const auto& part : split(range, ',')) {
    const auto term = trim(part);
    if (!term.starts_with(">=") && !term.starts_with("~=")) continue;
    const auto number = parse_version_number(trim(term.substr(2)));
    if (number) return VersionNumber(*number);
  }
  return {};
}

struct StableUse {
  std::map<std::string, VersionNumber> since;  ///< of the stable ABI, with the Python that added them
  std::set<std::string> outside;               ///< of no stable ABI
};

StableUse stable_use(const std::set<std::string>& symbols) {
  StableUse use;
  for (const auto& symbol : symbols)
    if (const auto since = stable_abi_since(symbol))
      use.since.emplace(symbol, *since);
    else
      use.outside.insert(symbol);
  return use;
}

/// The oldest Python for which the wheel says its stable-ABI modules are: the highest cpXY of its tags (as abi3audit
/// takes it); of py3 the lower bound of Requires-Python.
std::optional<VersionNumber> oldest_promised_python(const Artifact& artifact) {
  std::optional<VersionNumber> highest;
  for (const auto& tag : artifact.name.python)
    if (const auto version = version_of_tag(tag); version && (!highest || *highest < *version)) highest = version;
  if (highest || artifact.wheel == nullptr) return highest;
  return lower_bound(artifact.wheel->requires_python);
}

/// Are all of the wheel's Pythons 3.15 or newer, which look for .abi3t files?
bool is_for_abi3t_pythons(const WheelName& name) {
  const auto first = parse_version_number("3.15");
  return first && !name.python.empty() && std::ranges::all_of(name.python, [&](const std::string& tag) {
           const auto version = version_of_tag(tag);
           return version && *first <= *version;
         });
}

constexpr std::size_t k_most_named = 5;

std::string some_of(const std::set<std::string>& names) {
  std::vector<std::string> shown;
  for (const auto& name : names) {
    if (shown.size() == k_most_named) break;
    shown.push_back(name);
  }
  if (names.size() > shown.size()) shown.push_back(fmt::format("and {} more", names.size() - shown.size()));
  return join(shown, ", ");
}

class PythonCheck {
 public:
  PythonCheck(const Artifact& artifact, FindingList& findings)
      : m_artifact(artifact), m_findings(findings), m_modules(artifact.modules()) {}

  void module(const std::string& name, const MemberFacts& member) {
    if (is_extension(name, member)) {
      if (is_loaded_by_path(m_artifact, name, member))
        m_findings.note("PYA002",
                        fmt::format("it exports no PyInit_{} and uses nothing of Python: no import finds a module in "
                                    "it, ctypes and torch.ops can load it",
                                    after_last(name, '.')),
                        member.path);
      else
        module_of_python(name, member);
      machine(member);
    }
    windows_library(name, member);
    gone_symbols(member);
    stable_symbols(member);
  }

 private:
  /// Python loads it by its name: all but the libraries that a spec has for ctypes. Without a spec NAME.so may be
  /// either.
  bool is_extension(const std::string& name, const MemberFacts& member) const {
    const KernelSpec* kernel = m_artifact.spec == nullptr ? nullptr : known_kernel(*m_artifact.spec, name);
    if (kernel != nullptr) return !kernel->plain_module;
    return !member.python_abi.empty() && member.python_abi != "none";
  }

  /// Does another file bring the same module to other Pythons?
  bool has_siblings(const std::string& name, const MemberFacts& member) const {
    return std::ranges::any_of(m_modules, [&](const auto& one) {
      return one.first == name && one.second != &member && one.second->python_abi != member.python_abi;
    });
  }

  void module_of_python(const std::string& name, const MemberFacts& member) {
    suffix(name, member);
    const auto last = after_last(name, '.');
    const auto& exports = exports_of(member);
    if (!contains(exports, "PyInit_" + last) && !contains(exports, "PyModExport_" + last))
      m_findings.broken("PYA002", fmt::format("it exports no PyInit_{}", last), member.path, "Python cannot import it");
  }

  void suffix(const std::string& name, const MemberFacts& member) {
    const auto& abi = m_artifact.name.abi;
    const auto& own = member.python_abi;
    if (abi.empty()) {
      untagged("PYA001");
    } else if (own == "abi3t") {
      if (!contains(abi, "abi3t") && !is_for_abi3t_pythons(m_artifact.name))
        m_findings.broken("PYA001",
                          member.pe ? "it needs python3t.dll, which Pythons before 3.15 do not have"
                                    : "its name ends with .abi3t, which Pythons before 3.15 do not look for",
                          member.path);
    } else if (own.empty() || own == "none") {
      // On Windows a module without an import from Python is bound to none of them, and plain .pyd is its name.
      if (!contains(abi, "none") && !member.pe)
        m_findings.broken("PYA001", "its name says no Python, so every Python would load it", member.path);
    } else if (own != "abi3" && !contains(abi, own) && !(contains(abi, "none") && has_siblings(name, member))) {
      m_findings.broken("PYA001", fmt::format("it is for {}, the wheel is tagged {}", own, join(abi, ".")), member.path,
                        "that Python will not find it");
    }
  }

  void machine(const MemberFacts& member) {
    const auto file = base_name(member.path);
    for (const auto& text : m_artifact.name.platform) {
      const auto tag = parse_platform_tag(text);
      const bool other_linux = !tag.machine.empty() && file.find("-linux-") != std::string_view::npos &&
                               file.find("-" + tag.machine + "-linux-") == std::string_view::npos;
      const bool other_windows = text.starts_with("win") && file.find("-win") != std::string_view::npos &&
                                 file.find("-" + text + ".") == std::string_view::npos;
      if (other_linux || other_windows)
        m_findings.broken("PYA001", fmt::format("its name is for another machine than {}", text), member.path);
    }
  }

  void windows_library(const std::string& name, const MemberFacts& member) {
    if (!member.pe) return;
    for (const auto& library : member.pe->imports) {
      const auto python = python_of_library(library);
      if (!python) continue;
      if (python->debug) {
        m_findings.broken("PYA005", fmt::format("it needs {} of a debug build, which users do not have", library),
                          member.path, "build without Py_DEBUG and the debug runtime");
      } else if (python->version.empty()) {
        continue;  // python3.dll comes with every Python 3
      } else if (is_limited(member)) {
        m_findings.broken("PYA005", fmt::format("it is for every Python 3, but needs {}", library), member.path,
                          "define Py_LIMITED_API for all its sources, so that python3.dll is linked");
      } else if (m_artifact.name.python.empty()) {
        untagged("PYA005");
      } else if (!is_tagged_for(python->version) && !has_siblings(name, member)) {
        m_findings.broken(
            "PYA005", fmt::format("it needs {}, the wheel is tagged {}", library, join(m_artifact.name.python, ".")),
            member.path, "it was linked with another Python");
      }
    }
  }

  /// A misnamed wheel, or modules in a folder without dist-info: nothing to compare with.
  void untagged(std::string_view code) {
    if (!m_findings.said(code))
      m_findings.skipped(code, "neither a wheel's file name nor dist-info says for which Python it is");
  }

  /// "312": one of the wheel's Pythons, or none of them has a number.
  bool is_tagged_for(const std::string& version) const {
    return std::ranges::any_of(m_artifact.name.python, [&](const std::string& tag) {
      return tag == "cp" + version || tag + "t" == "cp" + version || !tag.starts_with("cp");
    });
  }

  static const std::vector<std::string>& exports_of(const MemberFacts& member) {
    return member.elf ? member.elf->exports : member.pe ? member.pe->exports : k_nothing;
  }

  static bool exports_init(const MemberFacts& member) {
    return std::ranges::any_of(exports_of(member), [](const std::string& name) {
      return name.starts_with("PyInit_") || name.starts_with("PyModExport_");
    });
  }

  bool is_limited(const MemberFacts& member) const {
    if (member.python_abi.starts_with("abi3")) return true;
    if (m_artifact.name.python.empty()) return false;  // a folder's ABIs are those of its other modules
    return contains(m_artifact.name.abi, "abi3") || contains(m_artifact.name.abi, "abi3t");
  }

  void gone_symbols(const MemberFacts& member) {
    std::set<std::string> gone;
    for (const auto& symbol : python_symbols(m_artifact, member))
      if (symbol.starts_with("PyUnicodeUCS") || symbol.starts_with("PyFPE_")) gone.insert(symbol);
    if (!gone.empty())
      m_findings.broken("PYA006", fmt::format("it uses {}, which no Python since 3.9 has", some_of(gone)), member.path,
                        "it was compiled for a Python of long ago");
  }

  void stable_symbols(const MemberFacts& member) {
    if (!is_limited(member)) return;
    const auto symbols = python_symbols(m_artifact, member);
    if (symbols.empty()) {
      if (exports_init(member))
        m_findings.skipped("PYA003", fmt::format("{} shows no symbol of Python, so nothing proves what it uses",
                                                 base_name(member.path)));
      return;
    }
    if (m_artifact.name.abi.empty()) {
      untagged("PYA003");
      return untagged("PYA004");
    }
    const StableUse use = stable_use(symbols);
    const bool promised = contains(m_artifact.name.abi, "abi3") || contains(m_artifact.name.abi, "abi3t") ||
                          contains(m_artifact.name.abi, "none");
    if (!promised) return;  // one Python's wheel: that Python has more than the stable ABI
    if (!use.outside.empty())
      m_findings.broken("PYA003", fmt::format("the stable ABI does not have {}", some_of(use.outside)), member.path,
                        "a Python may drop or change it; define Py_LIMITED_API for all its sources");
    const auto oldest = oldest_promised_python(m_artifact);
    if (!oldest)
      return m_findings.skipped("PYA004", "neither a tag nor Requires-Python says which Python is the oldest");
    std::set<std::string> newer;
    for (const auto& [symbol, since] : use.since)
      if (*oldest < since) newer.insert(fmt::format("{} ({})", symbol, to_string(since)));
    if (!newer.empty())
      m_findings.broken("PYA004",
                        fmt::format("it uses {}, the wheel promises Python {}", some_of(newer), to_string(*oldest)),
                        member.path, "raise the tag, or define Py_LIMITED_API as the oldest Python");
  }

  inline static const std::vector<std::string> k_nothing;

  const Artifact& m_artifact;
  FindingList& m_findings;
  std::vector<std::pair<std::string, const MemberFacts*>> m_modules;
};

}  // namespace

void check_python_abi(const Artifact& artifact, FindingList& findings) {
  PythonCheck check(artifact, findings);
  for (const auto& [name, member] : artifact.modules()) check.module(name, *member);
}

}  // namespace sagekit
