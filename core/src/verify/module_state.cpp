#include "gpu/driver_choice.hpp"
#include "spec/data.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks/checks.hpp"
#include "verify/runs_on.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace sagekit {

namespace {

/// Findings after which a module does not load, or is not what it should be.
constexpr std::array<std::pair<std::string_view, RunVerdict>, 19> k_load_faults{{
    {"CNT007", RunVerdict::unknown},  // other bytes than the build recorded
    {"CNT017", RunVerdict::no},       // a pointer or an error page
    {"ELF001", RunVerdict::no},       // another machine
    {"ELF006", RunVerdict::no},       // another system's format
    {"ELF007", RunVerdict::no},       // a symbol that torch does not have
    {"ELF010", RunVerdict::no},       // no library
    {"IMP001", RunVerdict::no},      {"IMP002", RunVerdict::no},      {"IMP003", RunVerdict::no},
    {"IMP004", RunVerdict::no},      {"INF016", RunVerdict::unknown},  // other bytes than RECORD says
    {"INF017", RunVerdict::unknown}, {"LBC006", RunVerdict::no},       // another C library
    {"PYA001", RunVerdict::no},                                        // no Python of the tags finds it
    {"PYA002", RunVerdict::no},                                        // no PyInit
    {"PYA005", RunVerdict::no},                                        // another Python's library
    {"PYA006", RunVerdict::no},                                        // symbols that no Python has
    {"TAB001", RunVerdict::no},                                        // another torch's C++ strings
    {"TAB004", RunVerdict::no},                                        // another torch
}};

/// Findings after which nothing of the package can be imported.
constexpr std::array<std::string_view, 5> k_package_faults{"CNT003", "IMP001", "IMP002", "IMP003", "IMP004"};

/// Findings after which pip does not install a wheel file. Each was tried with pip 26.3 (broken_wheels.py --peers of
/// tests/real); a code that pip refuses for some of its faults only has a test of which.
struct InstallFault {
  std::string_view code;
  bool (*is_refused)(const Artifact&, const Finding&) = nullptr;  ///< null: always
};

/// pip compares the projects of file name, METADATA and dist-info; of the versions it takes METADATA's for a file, and
/// refuses one of another version only from an index.
bool is_other_project(const Artifact& artifact, const Finding&) {
  const auto own = normalized_project(artifact.name.distribution);
  const auto& folder = artifact.wheel->dist_info;
  return normalized_project(artifact.wheel->metadata_name) != own ||
         normalized_project(folder.substr(0, folder.find('-'))) != own;
}

bool is_unknown_format(const Artifact& artifact, const Finding&) {
  return artifact.wheel->wheel_version.substr(0, artifact.wheel->wheel_version.find('.')) != "1";
}

/// A part of .data that nobody knows is refused; the .data folder of another wheel is not.
bool is_unknown_part(const Artifact&, const Finding& finding) { return finding.where.find('/') != std::string::npos; }

/// Backslashes, drives and empty parts are installed by their letter; what leaves site-packages is not.
bool is_astray(const Artifact& artifact, const Finding&) {
  return std::ranges::any_of(artifact.members, [](const MemberFacts& member) {
    int depth = 0;
    for (const auto& part : split(member.path, '/')) {
      depth += part == ".." ? -1 : 1;
      if (depth < 0) return true;
    }
    return member.path.empty() || member.path.starts_with('/');
  });
}

/// A command with another odd character becomes a file of that name.
bool is_path_of_command(const Artifact&, const Finding& finding) {
  return finding.message.find('/') != std::string::npos;
}

constexpr std::array<InstallFault, 26> k_install_faults{{
    {"NAM001"},
    {"NAM002"},
    {"NAM003"},
    {"NAM004"},
    {"NAM005"},
    {"NAM006"},
    {"NAM106"},
    {"NAM107"},
    {"INF001"},
    {"INF002"},
    {"INF004"},
    {"INF006", is_other_project},
    {"INF007"},
    {"INF008", is_unknown_format},
    {"INF011"},
    {"INF025", is_other_project},
    {"INF111"},
    {"INF123", is_path_of_command},
    {"INF127", is_unknown_part},
    {"ZIP008"},
    {"ZIP012", is_astray},
    {"ZIP015"},
    {"ZIP018"},
    {"ZIP023"},
    {"ZIP026"},
    {"ZIP027"},
}};

/// Problems of single images, which GpuCode counts.
constexpr std::array<std::string_view, 4> k_image_problems{"FAT005", "FAT007", "FAT008", "FAT009"};

template <class List>
bool is_one_of(const List& list, std::string_view code) {
  return std::ranges::find(list, code) != list.end();
}

bool counts(const Finding& finding) {
  return finding.result != FindingResult::pass && finding.result != FindingResult::skipped &&
         !finding.message.starts_with(k_not_made);
}

bool keeps_from_installing(const Artifact& artifact, const Finding& finding) {
  if (artifact.kind != ArtifactKind::wheel || artifact.wheel == nullptr) return false;
  const auto fault = std::ranges::find(k_install_faults, std::string_view(finding.code), &InstallFault::code);
  return fault != k_install_faults.end() && (fault->is_refused == nullptr || fault->is_refused(artifact, finding));
}

/// A module with the suffix of one Python in a wheel for many loads in that one.
bool loads_in_one_python(const Artifact& artifact, const MemberFacts& member) {
  return !contains(artifact.name.abi, member.python_abi) &&
         std::ranges::any_of(artifact.name.python,
                             [&](const std::string& tag) { return tag == member.python_abi || tag.starts_with("py"); });
}

std::string code_words(const MemberFacts& member) {
  const auto code = loaded_arches(member, false), ptx = loaded_arches(member, true);
  if (code.empty() && ptx.empty()) return "no GPU code";
  std::string text = code.empty() ? "" : "machine code for " + arch_list(code);
  if (!ptx.empty()) text += fmt::format("{}PTX for {}", text.empty() ? "" : " and ", arch_list(ptx));
  return text;
}

/// The first thing that kept its GPU code from being listed as a whole; null when it was.
const Diagnostic* unlisted(const MemberFacts& member) {
  const auto found = std::ranges::find_if(member.problems, [](const Diagnostic& one) {
    return one.severity == Severity::error && !is_one_of(k_image_problems, one.code);
  });
  return found == member.problems.end() ? nullptr : &*found;
}

ModuleState judged_by_code(const MemberFacts& member, const GpuCode& code) {
  const auto images = [&](std::uint64_t bad, std::string_view how, std::string_view finding) {
    return fmt::format("has {} of {} images for {} {} ({})", bad, code.count, to_string(code.arch), how, finding);
  };
  if (code.mislabelled > 0)
    return {.verdict = code.mislabelled < code.count ? RunVerdict::part : RunVerdict::no,
            .code = &code,
            .why = images(code.mislabelled, "that hold code for another arch", "FAT008")};
  if (code.unreadable > 0)
    return {
        .verdict = RunVerdict::unknown, .code = &code, .why = images(code.unreadable, "that cannot be read", "FAT007")};
  if (const auto* problem = unlisted(member))
    return {.verdict = RunVerdict::unknown,
            .code = &code,
            .why = fmt::format("cannot be judged ({}: {})", problem->code, problem->message)};
  return {.verdict = code.ptx ? RunVerdict::jit : RunVerdict::yes, .code = &code};
}

/// NVIDIA promises no binary compatibility between a Tegra and other GPUs (CUDA C++ Programming Guide, "Binary
/// Compatibility"); from some CUDA on there is one. Which CUDA the machine has no wheel tells; PTX serves both.
std::optional<ModuleState> foreign_code(const MemberFacts& member, const GpuCode& code, Capability gpu) {
  const auto& models = gpu_data().models;
  const auto row = std::ranges::find(models, gpu, &GpuModels::capability);
  if (code.arch.capability == gpu || row == models.end() || row->shares_code_from.empty()) return std::nullopt;
  const auto text = std::ranges::find_if(member.gpu, [&](const GpuCode& one) {
    return one.ptx && one.loaded && !one.lto && one.count > 0 && ptx_reaches(one.arch, gpu);
  });
  if (text != member.gpu.end()) return judged_by_code(member, *text);
  return ModuleState{
      .verdict = RunVerdict::unknown,
      .code = &code,
      .why = fmt::format("has code for {} and none for {}: CUDA {} and newer load the first there, older do not",
                         to_string(code.arch), to_string(gpu), row->shares_code_from)};
}

}  // namespace

LoadFaults::LoadFaults(const Artifact& artifact, const std::vector<Finding>& findings) {
  for (const auto& finding : findings) {
    if (!counts(finding)) continue;
    const auto fault =
        std::ranges::find(k_load_faults, std::string_view(finding.code), [](const auto& one) { return one.first; });
    const MemberFacts* member = artifact.find(finding.where);
    const std::string text = fmt::format("{}: {}", finding.code, finding.message);
    if (m_package.empty() && keeps_from_installing(artifact, finding))
      m_package = fmt::format("pip does not install it ({})", text);
    if (member == nullptr || !is_native(member->path)) {
      if (m_package.empty() && is_one_of(k_package_faults, finding.code))
        m_package = fmt::format("the package cannot be imported ({})", text);
      continue;
    }
    if (fault == k_load_faults.end()) continue;
    // One whose name says no Python is found by all of them.
    if (finding.code == "PYA001" && (member->python_abi.empty() || member->python_abi == "none")) continue;
    ModuleState state{.verdict = fault->second, .why = fmt::format("does not load ({})", text)};
    if (state.verdict == RunVerdict::unknown) state.why = fmt::format("is not the file that was built ({})", text);
    if (finding.code == "PYA001" && loads_in_one_python(artifact, *member)) {
      state.verdict = RunVerdict::part;
      state.why = fmt::format("loads in one of the wheel's Pythons only ({})", text);
    }
    const auto [place, fresh] = m_modules.emplace(member->path, state);
    if (!fresh && state.verdict < place->second.verdict) place->second = std::move(state);
  }
  if (std::ranges::any_of(findings, [](const Finding& one) { return one.code == "CNT002" && counts(one); }))
    m_missing = missing_modules(artifact);
}

const ModuleState* LoadFaults::of(const MemberFacts& member) const {
  const auto found = m_modules.find(member.path);
  return found == m_modules.end() ? nullptr : &found->second;
}

ModuleState state_on(const MemberFacts& member, Capability gpu, const LoadFaults& faults, bool whole) {
  const GpuCode* code = code_for(member, gpu);
  const ModuleState* fault = faults.of(member);
  if (fault != nullptr && fault->verdict == RunVerdict::no)
    return {.verdict = fault->verdict, .code = code, .why = fault->why};
  if (code == nullptr) {
    if (const auto* problem = unlisted(member))
      return {.verdict = RunVerdict::unknown,
              .why = fmt::format("cannot be judged ({}: {})", problem->code, problem->message)};
    return {.verdict = RunVerdict::no, .lacks_code = true, .why = fmt::format("has {}", code_words(member))};
  }
  ModuleState state = judged_by_code(member, *code);
  if (fault != nullptr && fault->verdict < state.verdict)
    state = {.verdict = fault->verdict, .code = code, .why = fault->why};
  if (code->ptx || state.verdict == RunVerdict::no) return state;
  const auto broken = KernelBodies(member.gpu).loaded_on(gpu);
  if (broken.all())
    return {.verdict = RunVerdict::no,
            .code = code,
            .why = fmt::format("has no kernel for {} that does anything (FAT108)", to_string(code->arch))};
  if (whole && broken.any() && RunVerdict::part < state.verdict)
    return {.verdict = RunVerdict::part,
            .code = code,
            .why = fmt::format("has {} of {} kernels that do nothing there or trap, such as {} (FAT109)",
                               broken.traps + broken.empty + broken.part_trap, broken.kernels, broken.example)};
  if (state.verdict == RunVerdict::yes)
    if (const auto foreign = foreign_code(member, *code, gpu)) return *foreign;
  return state;
}

}  // namespace sagekit
