// Every installed package that a plugin knows: what it calls on these GPUs, whether that is in it, whether it loads.
#include "causes/in_words.hpp"
#include "checkup/looks.hpp"
#include "gpu/driver_choice.hpp"
#include "inspect/package_folder.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "verify/judge.hpp"
#include "verify/torch_abi.hpp"

#include <sagekit/causes.hpp>

#include <algorithm>

namespace sagekit {

namespace {

namespace fs = std::filesystem;
using enum CheckupState;

std::string install_command(const Look& look, const std::string& plugin) {
  auto command = fmt::format("sagekit --plugin {} install --or-build --interpreter {}", plugin,
                             shell_word(look.options.interpreter.string()));
  // A GPU that was named for this look is named for the other command, too: it does not show itself here.
  if (look.options.gpus && look.options.gpus->size() == 1) {
    const Gpu& gpu = look.options.gpus->front();
    command += " --for " + shell_word(fmt::format("gpu={}{}", gpu.name.empty() ? to_string(gpu.capability) : gpu.name,
                                                  gpu.driver.empty() ? "" : ",driver=" + gpu.driver));
  }
  return command;
}

bool makes(const Spec& spec, Capability gpu) {
  return std::ranges::any_of(spec.arches,
                             [&](const ArchSpec& arch) { return arch.capability == gpu && arch.excluded.empty(); });
}

/// Has it a cell for the torch and Python that are here?
bool has_cell(const Look& look, const Spec& spec, Capability gpu) {
  const auto& can = look.options.can_build;
  return !can || !look.torch || look.torch->cuda.empty() ||
         can(spec, look.torch->version, look.torch->cuda, look.python.minor + (look.python.free_threaded ? "t" : ""),
             gpu);
}

/// Null: no loaded plugin makes code for it, or has a cell for this torch, and its build would be refused.
const Spec* builder_for(const Look& look, const KnownPackage& known, Capability gpu) {
  const auto spec =
      std::ranges::find_if(known.specs, [&](const Spec* one) { return makes(*one, gpu) && has_cell(look, *one, gpu); });
  return spec == known.specs.end() ? nullptr : *spec;
}

/// Why there is none.
std::string no_builder(const Look& look, const KnownPackage& known, Capability gpu) {
  if (std::ranges::none_of(known.specs, [&](const Spec* one) { return makes(*one, gpu); }))
    return "no loaded plugin makes code for that GPU";
  return fmt::format("no loaded plugin has a wheel to build for torch {}, CUDA {} and Python {}", look.torch->version,
                     look.torch->cuda, look.python.minor);
}

/// One installed package, read and judged.
class PackageLook {
 public:
  PackageLook(Look& look, const KnownPackage& known, const FoundDistribution& found)
      : m_look(look), m_known(known), m_found(found) {
    m_package.name = known.name;
    m_package.version = found.version;
    m_package.place = found.place;
    if (const auto* module = look.python.module(known.module)) m_package.imported_from = module->folder;
    m_title = fmt::format("{} {}", known.name, found.version);
    if (look.gpus.empty() && !known.specs.empty()) m_mend = install_with(known.specs.front()->name);
    for (const auto& gpu : look.gpus)
      if (m_mend.empty()) m_mend = mend_on(gpu.capability);
  }

  Status run() {
    VerifyOptions how;
    how.policy = "others";
    how.child_environment = m_look.options.probe.child_environment;
    if (m_look.torch && m_look.torch->ready) how.torches = {*m_look.torch};
    const auto reports = verify_folder(m_found.place, {{m_known.name}}, m_look.options.plugins, how, m_look.runner);
    if (!reports && reports.error().kind == ErrorKind::interrupted) return std::unexpected(reports.error());
    if (!reports || reports->empty()) {
      m_look.add("package", m_title, wrong, reports ? "nothing of it can be judged" : reports.error().message,
                 "what it does cannot be told", m_mend);
      return {};
    }
    m_look.add("package", m_title, good, fmt::format("installed in {}", m_found.place.string()));
    read_modules();
    for (const auto& gpu : m_look.kinds_of_gpu()) on_gpu(gpu, reports->front());
    python_abi();
    torch_abi();
    TRY(try_import());
    findings(reports->front());
    m_look.checkup.packages.push_back(std::move(m_package));
    return {};
  }

 private:
  std::string install_with(const std::string& plugin) const { return install_command(m_look, plugin); }

  std::string mend_on(Capability gpu) const {
    const Spec* spec = builder_for(m_look, m_known, gpu);
    return spec == nullptr ? std::string() : install_with(spec->name);
  }

  void read_modules() {
    const auto packages = find_packages(m_found.place, {m_known.name});
    if (!packages || packages->empty()) return;
    auto reading = read_package(packages->front(), reading_options({}));
    if (!reading) return;
    m_artifact.kind = ArtifactKind::installed;
    m_artifact.root = packages->front().root;
    m_artifact.name = reading->wheel.name;
    m_artifact.members = std::move(reading->members);
  }

  /// "sageattn() calls _qattn_sm90 and _fused: INT8 QK, FP8 PV"
  std::string calls_text(const RunsOn& row) const {
    std::string function = m_known.module;
    for (const Spec* spec : m_known.specs)
      if (!spec->verify.gpu.empty()) {
        const auto& call = spec->verify.gpu.front().call;
        function = call.substr(call.find(':') + 1) + "()";
        break;
      }
    if (row.modules.empty()) return fmt::format("{}: {}", function, row.reason);
    std::vector<std::string> names;
    for (const auto& module : row.modules) names.push_back(after_last(module, '.'));
    return fmt::format("{} calls {}: {}", function, join(names, ", "), row.reason);
  }

  void on_gpu(const Gpu& gpu, const WheelReport& report) {
    const auto row = std::ranges::find(report.runs_on, gpu.capability, &RunsOn::capability);
    const auto what = fmt::format("{} on {}", m_known.name, gpu_text(gpu));
    const auto mend = mend_on(gpu.capability);
    const auto why = [&](std::string_view text) {
      if (!mend.empty()) return std::string(text);
      return fmt::format("{}{}{}", text, text.empty() ? "" : "; ", no_builder(m_look, m_known, gpu.capability));
    };
    if (row == report.runs_on.end()) {
      m_look.add("runs", what, unknown, "nothing in it says what it does there", why(""), mend);
      return;
    }
    m_package.runs_on.push_back(*row);
    const auto text = calls_text(*row);
    const bool defect = row->decided_by == RunReason::defect;
    if (row->verdict == RunVerdict::yes)
      m_look.add("runs", what, good, text);
    else if (row->verdict == RunVerdict::jit)
      m_look.add("runs", what, note, text, "the first call takes its time, and needs a driver as new as the PTX");
    else if (row->verdict == RunVerdict::part)
      m_look.add("runs", what, warning, text, why("some of its functions do not work on this GPU"), mend);
    else if (row->verdict == RunVerdict::no)
      m_look.add("runs", what, wrong, text,
                 why(defect ? "it imports and runs, and its results are wrong" : "its kernels do not run on this GPU"),
                 mend,
                 defect                                  ? "TRU001"
                 : row->decided_by == RunReason::refused ? "WHY503"
                                                         : "WHY501");
    else
      m_look.add("runs", what, unknown, text, why("it cannot be told whether it runs"), mend);
    modules_on(gpu, *row, mend);
    if (!row->driver.empty() && row->verdict != RunVerdict::no &&
        row->driver_system == (m_look.wsl ? "windows" : "linux") && is_older_driver(m_look.driver, row->driver))
      m_look.add("driver", "driver", wrong, fmt::format("{}; {} needs {}", m_look.driver, m_title, row->driver),
                 "an older one does not load its kernels", fmt::format("install driver {} or newer", row->driver),
                 "WHY513");
  }

  void modules_on(const Gpu& gpu, const RunsOn& row, const std::string& mend) {
    if (m_artifact.members.empty()) return;
    for (const auto& name : row.modules) {
      const MemberFacts* member = m_artifact.find_module(name);
      if (member == nullptr) {
        m_look.add("module", after_last(name, '.'), wrong, "is not in the package",
                   fmt::format("it is what is called on {}", to_string(gpu.capability)), mend, "WHY502");
        continue;
      }
      std::set<std::string> has;
      for (const auto& code : member->gpu)
        if (code.loaded) has.insert(code.ptx ? "PTX " + to_string(code.arch) : sm_name(code.arch));
      const std::vector<std::string> names(has.begin(), has.end());
      const GpuCode* taken = code_for(*member, gpu.capability);
      if (taken == nullptr)
        m_look.add("module", after_last(name, '.'), wrong,
                   fmt::format("has {}, and none for {}", names.empty() ? "no GPU code" : join(names, ", "),
                               to_string(gpu.capability)),
                   "it was built for other GPUs", mend, "WHY501");
      else
        m_look.add(
            "module", after_last(name, '.'), good,
            fmt::format("{} for {} is in it", taken->ptx ? "PTX " + to_string(taken->arch) : sm_name(taken->arch),
                        to_string(gpu.capability)));
    }
  }

  void python_abi() {
    std::set<std::string> others;
    std::string own = "cp" + without_dots(m_look.python.minor) + (m_look.python.free_threaded ? "t" : "");
    for (const auto& [name, member] : m_artifact.modules())
      if (member->python_abi.starts_with("cp") && member->python_abi != own) others.insert(member->python_abi);
    if (others.empty() || own == "cp") return;
    m_look.add("import", m_title, wrong, fmt::format("its modules are for {}, this Python is {}", *others.begin(), own),
               "Python does not find modules of another one", m_mend, "WHY301");
  }

  void torch_abi() {
    if (!m_look.torch) return;
    TorchLibraries libraries(m_look.torch->root / "lib");
    std::size_t symbols = 0, modules = 0;
    for (const auto& [name, member] : m_artifact.modules()) {
      if (!member->elf) continue;
      if (other_runtime(name, *member)) return;
      const auto use = torch_use(m_artifact, *member);
      if (!use.any() || !libraries.has("libc10.so")) continue;
      auto wanted = use.unstable;
      wanted.insert(wanted.end(), use.stable.begin(), use.stable.end());
      symbols += wanted.size();
      ++modules;
      const auto missing = libraries.missing(std::move(wanted), member->elf->needed);
      if (!missing || missing->empty()) {
        if (!missing) return;
        continue;
      }
      const auto print = torch_fingerprint(use.unstable);
      std::string made_with;
      if (print && !print->fits.empty())
        made_with = fmt::format(": it was linked with torch {}{}", to_string(print->fits.front()),
                                print->fits.size() == 1 ? "" : " to " + to_string(print->fits.back()));
      m_look.add("torch-abi", m_title, wrong,
                 fmt::format("{} wants {} of torch, which {} does not have{}", after_last(name, '.'), missing->front(),
                             m_look.torch->version, made_with),
                 "it does not load: a wheel serves the torch it was built for", m_mend, "WHY404");
      return;
    }
    if (modules > 0)
      m_look.add("torch-abi", m_title, good,
                 fmt::format("torch {} has all {} symbols that {} modules want of it", m_look.torch->version, symbols,
                             modules));
  }

  /// libcudart.so.12 beside a torch for CUDA 13.
  bool other_runtime(const std::string& name, const MemberFacts& member) {
    const std::string key = "libcudart.so.";
    for (const auto& library : member.elf->needed) {
      if (!library.starts_with(key) || m_look.torch->cuda.empty()) continue;
      const auto wants = leading_major(library.substr(key.size())), has = leading_major(m_look.torch->cuda);
      if (wants == has || wants.empty()) continue;
      m_look.add("torch-abi", m_title, wrong,
                 fmt::format("{} needs {}, torch brings CUDA {}", after_last(name, '.'), library, m_look.torch->cuda),
                 "it was built for another CUDA than this torch", m_mend, "WHY409");
      return true;
    }
    return false;
  }

  static std::string leading_major(const std::string& version) { return version.substr(0, version.find('.')); }

  Status try_import() {
    if (!m_look.torch_imports && m_look.torch) return {};
    std::vector<std::string> modules;
    for (const auto& row : m_package.runs_on)
      for (const auto& name : row.modules)
        if (m_artifact.find_module(name) != nullptr && !m_known.is_plain(name) && !contains(modules, name))
          modules.push_back(name);
    TRY_ASSIGN(const auto trials, try_imports(m_look.options, m_known.module, modules, m_look.runner, m_look.stop));
    for (const auto& trial : trials) {
      if (trial.error.empty()) continue;
      failed(trial);
      return {};
    }
    m_look.add("import", "import " + m_known.module, good,
               modules.empty()       ? "works"
               : modules.size() == 1 ? "works, and so does its module"
                                     : fmt::format("works, and so do {} modules", modules.size()));
    return {};
  }

  void failed(const ImportTrial& trial) {
    const bool no_driver = trial.error.find("libcuda.so") != std::string::npos && m_look.driver.empty();
    CheckupRow& row = m_look.add("import", "import " + trial.name, no_driver ? unknown : wrong, trial.error,
                                 no_driver ? "there is no driver here to load it with" : "nothing of it can be used",
                                 no_driver ? "" : m_mend);
    if (no_driver) return;
    const auto explained = explain_log_text(trial.output.empty() ? trial.error : trial.output, m_look.facts());
    if (explained.causes.empty()) return;
    const auto& cause = explained.causes.front();
    row.why = cause.title;
    row.code = cause.code;
    // Another wheel is what sagekit itself mends with; what lies elsewhere the cause's own fix mends.
    const bool another_wheel = std::ranges::any_of(
        m_look.checkup.rows, [](const CheckupRow& one) { return one.about == "torch-abi" && one.state == wrong; });
    if (!another_wheel && !cause.fix.empty()) row.mend = mend_of(cause);
  }

  /// What else fails it, each code once: not what this GPU suffers from, or it stands above.
  void findings(const WheelReport& report) {
    std::set<std::string> said;
    for (const auto& finding : report.findings) {
      if (finding.result != FindingResult::fail) continue;
      m_package.findings.push_back(finding);
      if (!said.insert(finding.code).second || said.size() > k_most_findings) continue;
      m_look.add(finding.code == "TRU001" ? "defect" : "finding", m_known.name, warning, finding.message,
                 finding.where.empty() ? "" : "seen in " + finding.where,
                 finding.code == "TRU001" ? m_mend : finding.hint, finding.code);
    }
  }

  static constexpr std::size_t k_most_findings = 5;

  Look& m_look;
  const KnownPackage& m_known;
  const FoundDistribution& m_found;
  CheckedPackage m_package;
  std::string m_title, m_mend;
  Artifact m_artifact;
};

}  // namespace

Status look_at_packages(Look& look) {
  std::vector<std::string> absent;
  for (const auto& known : look.known) {
    const auto found = look.python.named(known.name);
    if (!found.empty()) {
      TRY(PackageLook(look, known, *found.front()).run());
      continue;
    }
    absent.push_back(known.name);
    if (!look.options.asked_for_packages) continue;
    const auto* module = look.python.module(known.module);
    const Spec* builder =
        look.gpus.empty() ? known.specs.front() : builder_for(look, known, look.gpus.front().capability);
    look.add("package", known.name, wrong,
             module == nullptr
                 ? "not installed in this Python"
                 : fmt::format("not installed; `import {}` would take {}", known.module, module->folder.string()),
             builder == nullptr ? "it was asked about; " + no_builder(look, known, look.gpus.front().capability)
                                : std::string("it was asked about"),
             builder == nullptr ? std::string() : install_command(look, builder->name), "WHY418");
  }
  if (look.checkup.packages.empty() && !look.options.asked_for_packages)
    look.add("package", "packages", note,
             absent.empty() ? "no plugin is loaded, so that none is known"
                            : fmt::format("none of {} is installed", join(absent, ", ")));
  return {};
}

}  // namespace sagekit
