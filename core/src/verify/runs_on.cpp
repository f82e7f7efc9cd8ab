#include "verify/runs_on.hpp"

#include "spec/data.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/checks.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

enum class Reach { no, jit, yes };

/// Best way that one module's code has to a GPU, and the code that decides.
struct ModuleReach {
  Reach reach = Reach::no;
  const GpuCode* by = nullptr;
};

ModuleReach reach_of(const MemberFacts& member, Capability gpu) {
  ModuleReach best;
  for (const auto& code : member.gpu) {
    if (!code.loaded || code.lto || code.count == 0) continue;
    const bool fits = code.ptx ? ptx_reaches(code.arch, gpu) : code_runs_on(code.arch, gpu);
    const Reach reach = !fits ? Reach::no : code.ptx ? Reach::jit : Reach::yes;
    // The driver takes machine code before PTX, and the newest that fits.
    if (reach > best.reach || (fits && reach == best.reach && best.by->arch < code.arch)) best = {reach, &code};
  }
  return best;
}

/// What the driver must be for the code of all modules that decide, and which CUDA made the newest of it.
class DriverNeed {
 public:
  void add(const GpuCode& code) {
    const std::string branch = driver_for(code.toolkit, code.ptx);
    if (branch.empty()) m_known = false;
    m_branch = std::max(m_branch, branch);  // branches have three digits
    if (code.zstd > 0) m_branch = std::max(m_branch, gpu_data().zstd_driver);
    const auto known = parse_version_number(m_toolkit), now = parse_version_number(code.toolkit);
    if (now && (!known || *known < *now)) m_toolkit = code.toolkit;
  }

  /// A need that is known of some modules only is none that anybody can rely on.
  void tell(RunsOn& row) const {
    row.driver = m_known ? m_branch : "";
    row.toolkit = m_toolkit;
  }

 private:
  std::string m_branch, m_toolkit;
  bool m_known = true;
};

std::string last_part(const std::string& dotted) { return dotted.substr(dotted.rfind('.') + 1); }

std::string code_words(const MemberFacts& member) {
  const auto code = loaded_arches(member, false), ptx = loaded_arches(member, true);
  if (code.empty() && ptx.empty()) return "no GPU code";
  std::string text = code.empty() ? "" : "machine code for " + arch_list(code);
  if (!ptx.empty()) text += fmt::format("{}PTX for {}", text.empty() ? "" : " and ", arch_list(ptx));
  return text;
}

std::string verdict(Reach reach) { return reach == Reach::yes ? "yes" : reach == Reach::jit ? "jit" : "no"; }

RunsOn row_for(Capability gpu) {
  RunsOn row;
  row.capability = gpu;
  row.gpus = gpu_names(gpu);
  row.verdict = "no";
  return row;
}

bool hurts(const Defect& defect, Capability gpu) {
  return defect.capabilities.empty() || std::ranges::count(defect.capabilities, gpu) > 0;
}

/// The dispatch row that holds for the subject's revision. A spec without any row has a package that asks for no
/// particular device: every module is called on every GPU.
std::optional<DispatchSpec> dispatch_for(const Subject& subject, Capability gpu) {
  for (const auto& row : subject.spec->dispatch)
    if (row.capability == gpu && holds(row.when, *subject.revision, {}, subject.claims.torch, subject.claims.cuda))
      return row;
  if (!subject.spec->dispatch.empty()) return std::nullopt;
  DispatchSpec every;
  every.capability = gpu;
  every.path = "every module has code for it";
  for (const auto& kernel : subject.spec->kernels)
    if (holds(kernel.when, *subject.revision, {}, subject.claims.torch, subject.claims.cuda))
      every.modules.push_back(kernel.module);
  return every;
}

RunsOn by_dispatch(const Subject& subject, Capability gpu, const std::vector<const Defect*>& defects) {
  RunsOn row = row_for(gpu);
  const auto dispatch = dispatch_for(subject, gpu);
  if (!dispatch) {
    row.reason = fmt::format("the package has no branch for {}", to_string(gpu));
    return row;
  }
  if (!dispatch->refused.empty()) {
    row.reason = fmt::format("the package refuses it: {}", dispatch->refused);
    return row;
  }
  row.modules = dispatch->modules;
  Reach all = Reach::yes;
  DriverNeed need;
  std::vector<std::string> jit;
  for (const auto& name : dispatch->modules) {
    const MemberFacts* member = subject.find_module(name);
    if (member == nullptr) {
      row.reason = fmt::format("it would call {}, which is not in the wheel", last_part(name));
      return row;
    }
    const auto [reach, by] = reach_of(*member, gpu);
    if (reach == Reach::no) {
      row.reason = fmt::format("it would call {}, which has {}", last_part(name), code_words(*member));
      return row;
    }
    if (reach == Reach::jit) jit.push_back(fmt::format("{} (PTX for {})", last_part(name), to_string(by->arch)));
    need.add(*by);
    all = std::min(all, reach);
  }
  for (const auto* defect : defects)
    if (hurts(*defect, gpu)) {
      row.reason = fmt::format("known defect {}: {}", defect->id, defect->message);
      return row;
    }
  row.verdict = verdict(all);
  need.tell(row);
  row.reason = dispatch->path;
  if (dispatch->modules.empty())
    row.reason += row.reason.empty() ? "no extension module is called" : "; no extension module is called";
  if (!jit.empty())
    row.reason +=
        fmt::format("{}the driver compiles {} at the first call", row.reason.empty() ? "" : "; ", join(jit, ", "));
  return row;
}

/// Without a spec, or of a source that it does not know, nobody knows which module the package calls: it may run where
/// any has code, and the reason says which.
RunsOn by_code(const Subject& subject, Capability gpu) {
  RunsOn row = row_for(gpu);
  Reach best = Reach::no;
  DriverNeed need;
  std::size_t with_code = 0;
  for (const auto& [name, member] : subject.modules()) {
    if (std::ranges::none_of(member->gpu, &GpuCode::loaded)) continue;
    ++with_code;
    const auto [reach, by] = reach_of(*member, gpu);
    best = std::max(best, reach);
    if (reach == Reach::no) continue;
    row.modules.push_back(name);
    need.add(*by);
  }
  need.tell(row);
  row.verdict = verdict(best);
  if (best == Reach::no)
    row.reason = "no module has code for it";
  else if (row.modules.size() == with_code)
    row.reason = "every module with GPU code has code for it";
  else
    row.reason = fmt::format("{} of {} modules with GPU code have code for it; which the package calls is not known",
                             row.modules.size(), with_code);
  return row;
}

/// Has any module code for it? A GPU of the past is worth a row only then.
bool reaches_any(const Subject& subject, Capability gpu) {
  return std::ranges::any_of(subject.modules(),
                             [&](const auto& module) { return reach_of(*module.second, gpu).reach != Reach::no; });
}

}  // namespace

std::vector<RunsOn> runs_on(const Subject& subject) {
  std::set<Capability> gpus;
  for (const auto& models : gpu_data().models)
    if (!models.legacy || reaches_any(subject, models.capability)) gpus.insert(models.capability);
  std::vector<RunsOn> table;
  if (subject.is_recognised()) {
    for (const auto& row : subject.spec->dispatch) gpus.insert(row.capability);
    const auto defects = visible_defects(subject);
    for (const auto gpu : gpus) table.push_back(by_dispatch(subject, gpu, defects));
    return table;
  }
  const bool any_code = std::ranges::any_of(
      subject.modules(), [](const auto& module) { return std::ranges::any_of(module.second->gpu, &GpuCode::loaded); });
  if (any_code)
    for (const auto gpu : gpus) table.push_back(by_code(subject, gpu));
  return table;
}

void check_runs_on(const Subject& subject, const std::vector<RunsOn>& table, Judgement& judgement) {
  if (subject.spec == nullptr)
    return judgement.skipped("RUN001", "no loaded plugin knows how this package chooses its kernels");
  if (!subject.is_recognised()) return judgement.skipped("RUN001", "dispatch not known: " + unrecognised(subject));
  if (!subject.claims.arches) return judgement.skipped("RUN001", "which arches it was built for is not recorded in it");
  const auto defects = visible_defects(subject);
  for (const auto& arch : *subject.claims.arches) {
    if (std::ranges::any_of(defects, [&](const Defect* defect) { return hurts(*defect, arch.capability); }))
      continue;  // TRU001's
    const auto row = std::ranges::find(table, arch.capability, &RunsOn::capability);
    if (row == table.end() || row->verdict != "no") continue;
    const auto dispatch = subject.revision == nullptr ? std::nullopt : dispatch_for(subject, arch.capability);
    const bool package_says_no = !dispatch || !dispatch->refused.empty();
    judgement.broken(package_says_no ? "RUN002" : "RUN001",
                     fmt::format("built for {}, but does not run there: {}", to_string(arch.capability), row->reason));
  }
  judgement.done("RUN001");
  judgement.done("RUN002");
}

}  // namespace sagekit
