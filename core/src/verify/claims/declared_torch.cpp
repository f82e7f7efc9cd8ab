#include "verify/claims/declared_torch.hpp"

#include "pypa/requirement_reader.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

/// "2.11.0" of "==2.11.0+cu130", "2.11" of "==2.11.*"; "" when it is no pin.
std::string pinned_version(const std::string& range) {
  for (const auto& term : split(range, ',')) {
    if (!term.starts_with("==")) continue;
    std::string version = term.substr(term.find_first_not_of('='));
    version = version.substr(0, version.find('+'));
    if (version.ends_with(".*")) version.resize(version.size() - 2);
    if (parse_version_number(version)) return version;
  }
  return {};
}

/// Is `version` the declared one, or one of it when only "2.11" is declared?
bool is_version(std::string_view version, std::string_view declared) {
  if (version == declared) return true;
  return version.starts_with(declared) && version.substr(declared.size()).starts_with('.');
}

}  // namespace

std::string DeclaredTorch::text() const {
  return cuda.empty() ? "torch " + version : fmt::format("torch {} for CUDA {}", version, cuda);
}

std::optional<DeclaredTorch> declared_torch(const Subject& subject) {
  const Claims& claims = subject.claims;
  if (!claims.torch.empty()) return DeclaredTorch{claims.torch, claims.cuda, claims.from};
  const auto& requirements = subject.wheel != nullptr ? subject.wheel->requires_dist : claims.requires_dist;
  const auto* requirement = find_requirement(requirements, "torch");
  if (requirement == nullptr) return {};
  auto version = pinned_version(requirement_range(*requirement));
  if (version.empty()) return {};
  return DeclaredTorch{std::move(version), claims.cuda, "Requires-Dist"};
}

const TorchSysroot* find_sysroot(const DeclaredTorch& torch, const std::vector<TorchSysroot>& sysroots,
                                 std::string_view machine) {
  const auto platform = "linux_" + std::string(machine);
  const auto found = std::ranges::find_if(sysroots, [&](const TorchSysroot& sysroot) {
    return sysroot.ready && sysroot.platform == platform && (torch.cuda.empty() || sysroot.cuda == torch.cuda) &&
           is_version(sysroot.version, torch.version);
  });
  return found == sysroots.end() ? nullptr : &*found;
}

std::string wheel_platform(const TorchSysroot& sysroot) {
  std::error_code error;
  for (fs::directory_iterator at(sysroot.root.parent_path(), error), end; !error && at != end; at.increment(error)) {
    const auto name = at->path().filename().string();
    if (!name.starts_with("torch-" + sysroot.version) || !name.ends_with(".dist-info")) continue;
    const auto text = read_file(at->path() / "WHEEL");
    if (!text) continue;
    for (const auto& line : split(*text, '\n'))
      if (line.starts_with("Tag:")) return trim(line.substr(line.find_last_of('-') + 1));
  }
  return {};
}

}  // namespace sagekit
