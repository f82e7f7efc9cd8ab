#include "verify/runs_on.hpp"

#include "gpu/driver_choice.hpp"
#include "spec/data.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks/checks.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace sagekit {

namespace {

/// What the driver must be for the code of all modules that decide, and which CUDA made the newest of it.
class DriverFloor {
 public:
  void add(const MemberFacts& member, const GpuCode& code) {
    const bool windows = member.pe.has_value();
    const auto driver = driver_for(code.toolkit, code.ptx).on(windows);
    // Of modules for two systems none is every user's.
    if (driver.empty() || (m_any && windows != m_windows)) m_known = false;
    m_any = true;
    m_windows = windows;
    m_driver = std::max(m_driver, driver);  // all begin with three digits
    if (code.zstd > 0) m_driver = std::max(m_driver, gpu_data().zstd_driver.on(windows));
    const auto known = parse_version_number(m_toolkit), now = parse_version_number(code.toolkit);
    if (now && (!known || *known < *now)) m_toolkit = code.toolkit;
  }

  const std::string& driver() const { return m_driver; }

  /// A need that is known of some modules only is none that anybody can rely on.
  void tell(RunsOn& row) const {
    row.driver = m_known ? m_driver : "";
    // An older driver than the GPU's first one loads nothing for it.
    if (!row.driver.empty()) row.driver = std::max(row.driver, first_driver_of(row.capability).on(m_windows));
    if (!row.driver.empty()) row.driver_system = m_windows ? "windows" : "linux";
    row.toolkit = m_toolkit;
  }

 private:
  std::string m_driver, m_toolkit;
  bool m_known = true, m_any = false, m_windows = false;
};

/// The one CPU that its modules are for; "" = several, or it has none.
std::string cpu_of(const Artifact& artifact) {
  std::set<std::string> cpus;
  for (const auto& [name, module] : artifact.modules())
    cpus.insert(module->elf ? module->elf->machine : module->pe ? module->pe->machine : std::string());
  return cpus.size() == 1 ? *cpus.begin() : std::string();
}

RunsOn row_for(Capability gpu, const Artifact& artifact) {
  RunsOn row;
  row.capability = gpu;
  row.gpus = gpu_names(gpu, cpu_of(artifact));
  row.other_cpu = row.gpus.empty() && !gpu_names(gpu).empty();
  row.verdict = RunVerdict::no;
  row.decided_by = RunReason::modules;
  return row;
}

bool hurts(const Defect& defect, Capability gpu) {
  return defect.capabilities.empty() || std::ranges::count(defect.capabilities, gpu) > 0;
}

void add_reason(RunsOn& row, std::string_view more) {
  row.reason += fmt::format("{}{}", row.reason.empty() ? "" : "; ", more);
}

/// "a, b, c and 4 more"
std::string some_names(const std::vector<std::string>& dotted) {
  constexpr std::size_t most = 3;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < dotted.size() && i < most; ++i) names.push_back(after_last(dotted[i], '.'));
  return join(names, ", ") + (dotted.size() > most ? fmt::format(" and {} more", dotted.size() - most) : "");
}

/// Modules that the package does not call on this GPU, but that do not load or are not there at all: whether it imports
/// without them nobody knows.
void mind_other_modules(RunsOn& row, const Artifact& artifact, const LoadFaults& faults) {
  const auto mind = [&row](const std::string& name, std::string_view why) {
    if (contains(row.modules, name)) return;
    row.failing.push_back(name);
    if (row.verdict == RunVerdict::yes || row.verdict == RunVerdict::jit) row.verdict = RunVerdict::part;
    add_reason(
        row, fmt::format("{} {}, and whether the package imports without it is not known", after_last(name, '.'), why));
  };
  for (const auto& [name, member] : artifact.modules())
    if (const ModuleState* fault = faults.of(*member)) mind(name, fault->why);
  for (const auto& name : faults.missing()) mind(name, "is not there (CNT002)");
}

/// What the package calls there, module by module; the worst of them decides.
void judge_modules(RunsOn& row, const Artifact& artifact, const LoadFaults& faults) {
  auto worst = RunVerdict::yes;
  DriverFloor need;
  std::vector<std::string> jit;
  std::string why;
  for (const auto& name : row.modules) {
    const MemberFacts* member = artifact.find_module(name);
    const auto state = member == nullptr ? ModuleState{.verdict = RunVerdict::no, .why = "is not in the wheel"}
                                         : state_on(*member, row.capability, faults, true);
    if (state.verdict < RunVerdict::jit) row.failing.push_back(name);
    if (state.verdict < worst) {
      worst = state.verdict;
      if (worst < RunVerdict::jit)
        why = fmt::format("it {} call {}, which {}", worst == RunVerdict::no ? "would" : "will", after_last(name, '.'),
                          state.why);
    }
    if (state.code != nullptr) need.add(*member, *state.code);
    if (state.code != nullptr && state.code->ptx)
      jit.push_back(fmt::format("{} (PTX for {})", after_last(name, '.'), to_string(state.code->arch)));
  }
  row.verdict = worst;
  if (worst == RunVerdict::no) {
    row.reason = why;
    return;
  }
  need.tell(row);
  if (!why.empty()) add_reason(row, why);
  if (row.modules.empty()) add_reason(row, "no extension module is called");
  if (!jit.empty()) add_reason(row, fmt::format("the driver compiles {} at the first call", join(jit, ", ")));
}

RunsOn by_dispatch(const Artifact& artifact, Capability gpu, const std::vector<const Defect*>& defects,
                   const LoadFaults& faults) {
  RunsOn row = row_for(gpu, artifact);
  const auto dispatch = dispatch_for(artifact, gpu);
  if (!dispatch) {
    row.reason = fmt::format("the package has no branch for {}", to_string(gpu));
    row.decided_by = RunReason::no_branch;
    return row;
  }
  if (!dispatch->refused.empty()) {
    row.reason = fmt::format("the package refuses it: {}", dispatch->refused);
    row.decided_by = RunReason::refused;
    return row;
  }
  row.modules = dispatch->modules;
  row.reason = dispatch->path;
  judge_modules(row, artifact, faults);
  if (row.verdict == RunVerdict::no) return row;
  const auto defect = std::ranges::find_if(defects, [&](const Defect* one) { return hurts(*one, gpu); });
  if (defect != defects.end()) {
    RunsOn hurt = row_for(gpu, artifact);
    hurt.modules = row.modules;
    hurt.reason = fmt::format("known defect {}: {}", (*defect)->id, (*defect)->message);
    hurt.decided_by = RunReason::defect;
    return hurt;
  }
  mind_other_modules(row, artifact, faults);
  return row;
}

/// What the modules that fail there have in common, or the first of them with its reason.
std::string failing_words(const std::vector<std::pair<std::string, ModuleState>>& failing, std::size_t all) {
  std::vector<std::string> without;
  const ModuleState* first = nullptr;
  std::string first_name;
  for (const auto& [name, state] : failing) {
    if (state.lacks_code) {
      without.push_back(name);
    } else if (first == nullptr) {
      first = &state;
      first_name = after_last(name, '.');
    }
  }
  std::vector<std::string> parts;
  if (!without.empty())
    parts.push_back(fmt::format("{} of {} modules with GPU code {} none for it: {}", without.size(), all,
                                without.size() == 1 ? "has" : "have", some_names(without)));
  if (first != nullptr) parts.push_back(fmt::format("{} {}", first_name, first->why));
  if (const auto rest = failing.size() - without.size(); rest > 1)
    parts.push_back(rest == 2 ? "and another module, too" : fmt::format("and {} more modules, too", rest - 1));
  return join(parts, "; ");
}

/// Modules for several CUDA releases stand for each other, for a process has one of them: the least that any needs.
DriverFloor least_floor(const std::vector<std::pair<const MemberFacts*, const GpuCode*>>& taken) {
  std::map<std::string, DriverFloor> floors;
  for (const auto& [member, code] : taken)
    if (const auto runtime = cuda_runtime(*member); !runtime.empty()) floors[runtime];
  if (floors.empty()) floors[""];
  for (const auto& [member, code] : taken)
    for (auto& [runtime, floor] : floors)
      if (const auto own = cuda_runtime(*member); own.empty() || own == runtime) floor.add(*member, *code);
  return std::ranges::min_element(floors, {}, [](const auto& floor) { return floor.second.driver(); })->second;
}

bool may_have_code(const MemberFacts& member) {
  return std::ranges::any_of(member.gpu, &GpuCode::loaded) || hides_gpu_code(member);
}

/// Nobody knows which modules the package calls: it runs where all of them have code, and in part where some have.
RunsOn by_code(const Artifact& artifact, Capability gpu, const LoadFaults& faults) {
  RunsOn row = row_for(gpu, artifact);
  auto worst = RunVerdict::yes, best = RunVerdict::no;
  std::vector<std::pair<const MemberFacts*, const GpuCode*>> taken;
  std::vector<std::pair<std::string, ModuleState>> failing;
  std::size_t with_code = 0, by_path = 0;
  for (const auto& [name, member] : artifact.modules()) {
    const bool has_code = may_have_code(*member);
    if (!has_code && faults.of(*member) == nullptr) continue;
    with_code += has_code;
    by_path += has_code && is_loaded_by_path(artifact, name, *member);
    const auto state = has_code ? state_on(*member, gpu, faults, false) : *faults.of(*member);
    worst = std::min(worst, state.verdict);
    if (has_code) best = std::max(best, state.verdict);
    if (state.verdict < RunVerdict::jit) {
      failing.emplace_back(name, state);
      row.failing.push_back(name);
    }
    if (state.verdict < RunVerdict::part) continue;
    if (has_code) row.modules.push_back(name);
    if (state.code != nullptr) taken.emplace_back(member, state.code);
  }
  least_floor(taken).tell(row);
  // With none that works the best of them counts; with some, one that does not makes it a part.
  row.verdict = best < RunVerdict::part ? best : worst < RunVerdict::part ? RunVerdict::part : worst;
  const bool no_code = std::ranges::all_of(failing, [](const auto& one) { return one.second.lacks_code; });
  if (failing.empty())
    row.reason = "every module with GPU code has code for it";
  else if (best == RunVerdict::no && no_code && by_path == with_code) {
    // Its Python code has to ask for them, and may do without: torchao does.
    row.verdict = RunVerdict::unknown;
    row.reason = "no module has code for it, and none is a Python module that an import would bring";
  } else if (best == RunVerdict::no && no_code)
    row.reason = "no module has code for it";
  else
    row.reason = failing_words(failing, with_code);
  if (row.verdict != RunVerdict::no && (!failing.empty() || artifact.spec != nullptr))
    add_reason(row, "which the package calls is not known");
  return row;
}

/// What was seen on a GPU outweighs what was read in files.
void mind_gate(RunsOn& row, const GpuGate& gate, const std::vector<Finding>& findings) {
  row.verdict = gate.passed == 0 ? RunVerdict::no : RunVerdict::part;
  const auto first = std::ranges::find_if(findings, [](const Finding& one) {
    return family(one.code) == "RUN" && (one.result == FindingResult::fail || one.result == FindingResult::warn);
  });
  add_reason(row,
             fmt::format("{} of {} cases failed on this machine's {}{}", gate.cases - gate.passed, gate.cases, gate.gpu,
                         first == findings.end() ? "" : fmt::format(" ({}: {})", first->code, first->message)));
}

/// Has any module code for it? A GPU of the past is worth a row only then.
bool reaches_any(const Artifact& artifact, Capability gpu) {
  return std::ranges::any_of(artifact.modules(),
                             [&](const auto& module) { return code_for(*module.second, gpu) != nullptr; });
}

}  // namespace

std::string cuda_runtime(const MemberFacts& member) {
  for (const auto& library : member.elf  ? member.elf->needed
                             : member.pe ? member.pe->imports
                                         : std::vector<std::string>()) {
    const std::string name = lower(library);
    // Of the toolkit's libraries these have its release in their names, and a torch of another lacks them.
    for (const std::string_view prefix :
         {"libcudart.so.", "cudart64_", "libcublas.so.", "cublas64_", "libcublaslt.so.", "cublaslt64_", "libnvrtc.so.",
          "nvrtc64_", "libnvjitlink.so.", "nvjitlink_", "libcupti.so."})
      // cudart64_110.dll was CUDA 11's.
      if (name.starts_with(prefix) && is_digits(name.substr(prefix.size(), 2))) return name.substr(prefix.size(), 2);
  }
  return {};
}

std::optional<DispatchSpec> dispatch_for(const Artifact& artifact, Capability gpu) {
  if (!artifact.is_recognised()) return std::nullopt;
  for (const auto& row : artifact.spec->dispatch)
    if (row.capability == gpu &&
        holds(row.when, *artifact.revision, {}, artifact.provenance.torch, artifact.provenance.cuda))
      return row;
  if (!artifact.spec->dispatch.empty()) return std::nullopt;
  DispatchSpec every;
  every.capability = gpu;
  every.path = "every module has code for it";
  for (const auto& kernel : artifact.spec->kernels)
    if (holds(kernel.when, *artifact.revision, {}, artifact.provenance.torch, artifact.provenance.cuda))
      every.modules.push_back(kernel.module);
  return every;
}

std::vector<Capability> known_gpus(const Artifact& artifact) {
  std::set<Capability> gpus;
  for (const auto& models : gpu_data().models)
    if (!models.legacy || reaches_any(artifact, models.capability)) gpus.insert(models.capability);
  if (artifact.is_recognised())
    for (const auto& row : artifact.spec->dispatch) gpus.insert(row.capability);
  return {gpus.begin(), gpus.end()};
}

std::string unusable(const Artifact& artifact, const std::vector<Finding>& findings) {
  return LoadFaults(artifact, findings).package();
}

std::vector<RunsOn> runs_on(const Artifact& artifact, const std::vector<Finding>& findings,
                            const std::optional<GpuGate>& gate) {
  const LoadFaults faults(artifact, findings);
  std::vector<RunsOn> table;
  if (artifact.is_recognised()) {
    const auto defects = visible_defects(artifact);
    for (const auto gpu : known_gpus(artifact)) table.push_back(by_dispatch(artifact, gpu, defects, faults));
  } else if (std::ranges::any_of(artifact.modules(),
                                 [](const auto& module) { return may_have_code(*module.second); })) {
    for (const auto gpu : known_gpus(artifact)) table.push_back(by_code(artifact, gpu, faults));
  }
  const auto experimental = artifact.experimental();
  for (auto& row : table) {
    if (row.verdict == RunVerdict::no) continue;
    if (!experimental.empty()) add_reason(row, experimental);
    if (gate && gate->capability == row.capability && gate->passed < gate->cases) mind_gate(row, *gate, findings);
  }
  return table;
}

void lower_all(std::vector<RunsOn>& table, const std::string& unusable) {
  if (unusable.empty()) return;
  for (auto& row : table) {
    row.verdict = RunVerdict::no;
    row.reason = unusable;
    row.decided_by = RunReason::unusable;
  }
}

void check_runs_on(const Artifact& artifact, const std::vector<RunsOn>& table, const std::string& unusable,
                   FindingList& findings) {
  if (artifact.spec == nullptr)
    return findings.skip_rest("no loaded plugin knows how this package chooses its kernels");
  if (!artifact.is_recognised()) return findings.skip_rest("dispatch not known: " + unrecognised(artifact));
  if (!artifact.provenance.arches) return findings.skip_rest("which arches it was built for is not recorded in it");
  const auto defects = visible_defects(artifact);
  for (const auto& arch : *artifact.provenance.arches) {
    if (std::ranges::any_of(defects, [&](const Defect* defect) { return hurts(*defect, arch.capability); }))
      continue;  // TRU001's
    const auto row = std::ranges::find(table, arch.capability, &RunsOn::capability);
    if (row == table.end() || row->verdict != RunVerdict::no) continue;
    const bool package_says_no = row->decided_by == RunReason::no_branch || row->decided_by == RunReason::refused;
    findings.broken(package_says_no ? "RUN002" : "RUN001",
                    fmt::format("built for {}, but does not run there: {}", to_string(arch.capability), row->reason));
  }
  // What keeps the package from every GPU is a finding of its own, and no fault of the code for one of them.
  if (!unusable.empty()) findings.skip_rest(unusable);
}

}  // namespace sagekit
