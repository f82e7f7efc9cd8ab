#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/artifact.hpp"
#include "verify/checks/checks.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

constexpr std::uint64_t k_mib = 1024 * 1024;
constexpr std::uint64_t k_index_limit = 100 * k_mib;  // PyPI's default for one file

std::string top_of(std::string_view path) { return std::string(path.substr(0, path.find('/'))); }

bool in_dist_info(const Artifact& artifact, std::string_view path) {
  return artifact.wheel != nullptr && path.starts_with(artifact.wheel->dist_info + "/");
}

/// Why this file has no business in a wheel; "" = it may be there.
std::string leftover(const Artifact& artifact, std::string_view path) {
  static const std::vector<std::string> leftovers{"*.o", "*.obj", "*.d", "*.ninja", "*.orig", "*.rej"};
  // A package that compiles when it runs brings these; one whose spec builds modules does not.
  static const std::vector<std::string> sources{"*.a", "*.lib", "*.cu", "*.cubin", "*.ptx", "*.fatbin", "*.log"};
  static const std::vector<std::string> caches{"**/__pycache__/**", "__pycache__/**", ".git/**", "**/.git*",
                                               "**/.DS_Store"};
  const auto matches = [&](const std::string& glob) { return glob_match(glob, path); };
  if (std::ranges::any_of(leftovers, matches)) return "a leftover of the build";
  if (artifact.spec != nullptr && std::ranges::any_of(sources, matches)) return "a leftover of the build";
  if (std::ranges::any_of(caches, matches)) return "a leftover of a tool";
  const auto& platforms = artifact.name.platform;
  const bool windows = std::ranges::any_of(platforms, [](const auto& tag) { return tag.starts_with("win"); });
  const bool other = !windows && !platforms.empty();  // without a tag it is for nobody knows what
  if (other && (path.ends_with(".pyd") || path.ends_with(".dll") || path.ends_with(".exe"))) return "for Windows only";
  if (windows && path.ends_with(".so")) return "for Linux only";
  return {};
}

/// The names that the spec puts at the top of the wheel.
std::set<std::string> own_tops(const Spec& spec) {
  std::set<std::string> tops;
  for (const auto& kernel : spec.kernels) tops.insert(kernel.module.substr(0, kernel.module.find('.')));
  for (const auto& files : spec.package_files)
    if (!files.to.empty()) tops.insert(top_of(files.to));
  for (const auto& name : spec.verify.import_modules) tops.insert(name.substr(0, name.find('.')));
  return tops;
}

/// Does anything in the wheel come from this row?
bool has_files(const Artifact& artifact, const PackageFiles& row) {
  const std::string folder = row.to.empty() ? "" : row.to + "/";
  return std::ranges::any_of(artifact.members, [&](const MemberFacts& member) {
    if (!member.path.starts_with(folder) || in_dist_info(artifact, member.path)) return false;
    const auto below = member.path.substr(folder.size());
    return globs_select(row.include, below, true) && !globs_select(row.exclude, below, true);
  });
}

}  // namespace

void check_own_names(const Artifact& artifact, FindingList& findings) {
  const bool root_files =
      std::ranges::any_of(artifact.spec->package_files, [](const auto& files) { return files.to.empty(); });
  const auto tops = own_tops(*artifact.spec);
  std::set<std::string> strangers;
  for (const auto& member : artifact.members) {
    if (in_dist_info(artifact, member.path)) continue;
    const auto top = top_of(member.path);
    const auto name = top.substr(0, top.find('.'));
    if (!tops.contains(name) && !(root_files && top == member.path)) strangers.insert(top);
  }
  for (const auto& top : strangers)
    findings.broken("CNT005",
                    fmt::format("{} is none of the package's names ({})", top, join({tops.begin(), tops.end()}, ", ")),
                    top);
}

void check_expected(const Artifact& artifact, FindingList& findings) {
  const Spec& spec = *artifact.spec;
  if (!artifact.is_recognised()) {
    findings.skipped("CNT002", unrecognised(artifact));
  } else if (!artifact.provenance.arches) {
    findings.skipped("CNT002", "which arches it was built for is not recorded in it");
  } else {
    for (const auto& expected : expected_modules(artifact))
      if (!expected.gencode.empty() && artifact.find_module(expected.kernel->module) == nullptr)
        findings.broken("CNT002", fmt::format("module {} is not there", expected.kernel->module), {},
                        fmt::format("it is needed for {}", to_string(expected.gencode.front())));
  }
  for (const auto& [name, member] : artifact.modules())
    if (!name.empty() && known_kernel(spec, name) == nullptr)
      findings.broken("CNT006", fmt::format("the {} plugin knows no module {}", spec.name, name), member->path);
}

void check_python_files(const Artifact& artifact, FindingList& findings) {
  const Spec& spec = *artifact.spec;
  for (const auto& row : spec.package_files)
    if (!has_files(artifact, row))
      findings.broken("CNT003",
                      fmt::format("none of {} is in {}", join(row.include, " "), row.to.empty() ? "the root" : row.to));
  std::set<std::string> packages;
  for (const auto& kernel : spec.kernels)
    if (const auto dot = kernel.module.rfind('.'); dot != std::string::npos)
      packages.insert(kernel.module.substr(0, dot));
  for (const auto& package : packages)
    if (const auto path = replace_all(package, ".", "/") + "/__init__.py"; artifact.find(path) == nullptr)
      findings.broken("CNT003", fmt::format("{} is not there, so {} is no package", path, package), path);
  for (const auto& name : spec.verify.import_modules)
    if (known_kernel(spec, name) == nullptr && !artifact.has_python(name) && artifact.find_module(name) == nullptr)
      findings.broken("CNT003", fmt::format("there is nothing to import as {}", name));
}

void check_index_limit(const Artifact& artifact, FindingList& findings) {
  if (artifact.wheel_bytes > k_index_limit)
    findings.broken("CNT008", fmt::format("{} MiB are more than the public index takes by default (100 MiB)",
                                          artifact.wheel_bytes / k_mib));
}

void check_size(const Artifact& artifact, FindingList& findings) {
  if (!artifact.is_recognised()) return findings.skipped("CNT004", unrecognised(artifact));
  const VerifySpec& band = artifact.spec->verify;
  const auto said = [&](std::string_view side, std::uint64_t limit) {
    findings.broken("CNT004", fmt::format("the wheel has {:.1f} MiB, {} the {:.1f} MiB that the {} plugin expects",
                                          static_cast<double>(artifact.wheel_bytes) / k_mib, side,
                                          static_cast<double>(limit) / k_mib, artifact.spec->name));
  };
  if (artifact.wheel_bytes < band.size_min_bytes) said("less than", band.size_min_bytes);
  if (band.size_max_bytes != 0 && artifact.wheel_bytes > band.size_max_bytes) said("more than", band.size_max_bytes);
}

void check_leftovers(const Artifact& artifact, FindingList& findings) {
  for (const auto& member : artifact.members)
    if (const auto why = leftover(artifact, member.path); !why.empty())
      findings.broken("CNT001", fmt::format("{} is {}", member.path, why), member.path);
}

}  // namespace sagekit
