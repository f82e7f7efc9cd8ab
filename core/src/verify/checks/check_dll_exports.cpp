// WIN007: what Windows modules import, against what the DLLs of the torch that the wheel names really export.
#include "elf/pe_reader.hpp"
#include "elf/python_library.hpp"
#include "spec/libraries.hpp"
#include "spec/platform.hpp"
#include "spec/windows_data.hpp"
#include "support/file.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/artifact.hpp"
#include "verify/checks/checks.hpp"
#include "verify/torch_abi.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_most_names = 3;

/// The DLLs of one torch, read when first asked for.
class TorchDlls {
 public:
  explicit TorchDlls(const TorchSysroot& torch) : m_folder(torch.root / "lib"), m_wheel_files(wheel_files(torch)) {
    for (const auto& file : entries_of(m_folder)) m_files.emplace(lower(file.filename().string()), file);
  }

  /// What it exports, sorted. Null when that cannot be told: no such file, or one that torch's own wheel does not have,
  /// which is there for linkers and has names that nobody read in a real one.
  const std::vector<std::string>* exports(const std::string& dll) {
    const auto known = m_exports.try_emplace(dll);
    auto& list = known.first->second;
    if (known.second) list = read(dll);
    return list ? &*list : nullptr;
  }

 private:
  /// The rows of the RECORD of the wheel that it was made of.
  static std::string wheel_files(const TorchSysroot& torch) {
    for (const auto& entry : entries_of(torch.root.parent_path())) {
      const auto name = entry.filename().string();
      if (!name.starts_with("torch-") || !name.ends_with(".dist-info")) continue;
      if (auto text = read_file(entry / "RECORD")) return "\n" + lower(*text);
    }
    return {};
  }

  std::optional<std::vector<std::string>> read(const std::string& dll) const {
    const auto file = m_files.find(dll);
    const bool of_torch = std::ranges::any_of(library_origins(dll), &LibraryOrigin::torch);
    if (file == m_files.end() ||
        (of_torch && m_wheel_files.find(fmt::format("\ntorch/lib/{},", dll)) == std::string::npos))
      return std::nullopt;
    const auto mapped = MappedFile::open(file->second);
    if (!mapped) return std::nullopt;
    Problems problems(dll);
    auto pe = read_pe(Bytes(mapped->bytes()), problems);
    if (!pe || !problems.list().empty()) return std::nullopt;
    return std::move(pe->facts.exports);
  }

  fs::path m_folder;
  std::string m_wheel_files;
  std::map<std::string, fs::path> m_files;  // by name in small letters
  std::map<std::string, std::optional<std::vector<std::string>>> m_exports;
};

/// What is torch's or CUDA's, and neither the driver's nor the wheel's: by DLL, in small letters.
std::map<std::string, std::vector<std::string>> wanted_of_torch(const Artifact& artifact, const PeFacts& pe) {
  std::map<std::string, std::vector<std::string>> wanted;
  for (const auto& [library, names] : pe.imported) {
    const auto dll = lower(library);
    const auto origins = library_origins(dll);
    if (origins.empty() || std::ranges::any_of(origins, &LibraryOrigin::driver) || artifact.has_dll(dll)) continue;
    auto& list = wanted[dll];
    std::ranges::copy_if(names, std::back_inserter(list), [](const auto& name) { return !name.starts_with('#'); });
  }
  return wanted;
}

/// The torches here that the wheel says it is for, oldest first.
std::vector<const TorchSysroot*> torches_of(const Artifact& artifact, const std::vector<TorchSysroot>& torches) {
  std::vector<std::pair<VersionNumber, const TorchSysroot*>> found;
  const auto add = [&](const TorchSysroot& torch) {
    if (const auto version = parse_version_number(torch.version)) found.emplace_back(*version, &torch);
  };
  const auto promised = promised_from(artifact);
  const auto declared = declared_torch(artifact);
  const auto& cuda = artifact.provenance.cuda;
  if (promised) {
    for (const auto& torch : torches)
      if (torch.ready && torch.platform == k_windows_platform && (cuda.empty() || torch.cuda == cuda)) add(torch);
    std::erase_if(found, [&](const auto& one) { return one.first < *promised; });
  } else if (declared) {
    if (const auto* torch = find_sysroot(*declared, torches, k_windows_platform)) add(*torch);
  }
  std::ranges::stable_sort(found, {}, &std::pair<VersionNumber, const TorchSysroot*>::first);
  std::vector<const TorchSysroot*> sorted;
  for (const auto& [version, torch] : found) sorted.push_back(torch);
  return sorted;
}

std::string some(const std::vector<std::string>& names) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), k_most_names));
  auto text = join(std::vector<std::string>(names.begin(), end), ", ");
  if (names.size() > k_most_names) text += fmt::format(" and {} more", names.size() - k_most_names);
  return text;
}

class DllExportCheck {
 public:
  DllExportCheck(const Artifact& artifact, const VerifyOptions& options, FindingList& findings)
      : m_artifact(artifact),
        m_fetch_flags(options.fetch_flags),
        m_findings(findings),
        m_torches(torches_of(artifact, options.torches)) {
    for (const auto* torch : m_torches) m_dlls.emplace_back(*torch);
  }

  void module(const MemberFacts& member) {
    python(member);
    const auto wanted = wanted_of_torch(m_artifact, *member.pe);
    m_any = m_any || !wanted.empty();
    for (std::size_t i = 0; i < m_torches.size(); ++i) {
      std::vector<std::string> missing;
      for (const auto& [dll, names] : wanted) {
        const auto* exports = m_dlls[i].exports(dll);
        if (exports == nullptr) {
          m_unread.insert(dll);
          continue;
        }
        m_read.insert(dll);
        for (const auto& name : names)
          if (!std::ranges::binary_search(*exports, name)) missing.push_back(fmt::format("{} ({})", name, dll));
      }
      if (missing.empty()) continue;
      m_findings.broken("WIN007", fmt::format("torch {} does not export {}", m_torches[i]->version, some(missing)),
                        member.path, "it was linked with another torch or CUDA than the wheel is for");
      return;  // the first torch that lacks a name says it for the later ones
    }
  }

  void end() {
    if (!m_any) return m_findings.done("WIN007", "no module imports from torch or CUDA");
    if (m_findings.said("WIN007")) return;
    if (m_torches.empty()) return lack();
    std::vector<std::string> versions;
    for (const auto* torch : m_torches) versions.push_back(torch->version);
    const auto read = m_read.empty() ? std::string()
                                     : fmt::format("{} of torch {} {} every name that modules import",
                                                   join({m_read.begin(), m_read.end()}, " and "), join(versions, ", "),
                                                   m_read.size() == 1 ? "has" : "have");
    if (m_unread.empty()) return m_findings.done("WIN007", read);
    m_findings.skipped("WIN007",
                       fmt::format("{}{} {} not here: the package index has torch for Windows without CUDA only",
                                   read.empty() ? "" : read + "; ", join({m_unread.begin(), m_unread.end()}, " and "),
                                   m_unread.size() == 1 ? "is" : "are"),
                       "unpack a torch built with CUDA: --toolchain folder:DIR");
  }

 private:
  void python(const MemberFacts& member) {
    for (const auto& [library, names] : member.pe->imported)
      for (const auto& name : names)
        if (python_of_library(lower(library)) && absent_on_windows("python3.dll", name))
          m_findings.broken("WIN007", fmt::format("{} does not export {}: Windows has no fork", library, name),
                            member.path, "leave it out where _WIN32 is defined");
  }

  void lack() {
    const auto promised = promised_from(m_artifact);
    const auto declared = declared_torch(m_artifact);
    if (!promised && !declared)
      return m_findings.skipped("WIN007", "no torch version is declared, so it is not known what modules find");
    const auto& cuda = m_artifact.provenance.cuda;
    const auto version = promised ? to_string(*promised) : declared->version;
    m_findings.skipped(
        "WIN007", fmt::format("not checked: no torch {}{} for Windows here", version, promised ? " or newer" : ""),
        fmt::format("sagekit toolchain fetch --no-nvcc --torch {} --cuda {} --platform {}{}", newest_release(version),
                    cuda.empty() ? "ITS_CUDA" : cuda, k_windows_platform, m_fetch_flags));
  }

  const Artifact& m_artifact;
  const std::string& m_fetch_flags;
  FindingList& m_findings;
  std::vector<const TorchSysroot*> m_torches;
  std::vector<TorchDlls> m_dlls;  // of each of them
  std::set<std::string> m_read, m_unread;
  bool m_any = false;
};

}  // namespace

void check_dll_exports(const Artifact& artifact, const VerifyOptions& options, FindingList& findings) {
  DllExportCheck check(artifact, options, findings);
  for (const auto& [name, member] : artifact.modules())
    if (member->pe) check.module(*member);
  check.end();
}

}  // namespace sagekit
