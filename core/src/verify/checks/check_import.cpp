// Each module is loaded in a child process of its own; those that want torch in forks of one that has it.
#include "causes/in_words.hpp"
#include "elf/driver_stand_in.hpp"
#include "elf/loader_message.hpp"
#include "elf/symbol_name.hpp"
#include "spec/libraries.hpp"
#include "support/format.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "verify/artifact.hpp"
#include "verify/checks/checks.hpp"
#include "verify/child/child_python.hpp"
#include "verify/child/importable.hpp"
#include "verify/torch_abi.hpp"

#include <sagekit/shell_word.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>

namespace sagekit {

extern const std::string_view k_child_import_module;

namespace {

namespace fs = std::filesystem;
using Kind = LoaderMessage::Kind;

constexpr double k_seconds = 300;          // for one module; torch alone can take a minute from a cold disk
constexpr std::size_t k_most_at_once = 4;  // each brings a torch of its own
constexpr int k_most_timeouts = 2;         // then the rest is not tried: one fault makes them all hang

/// The code to report under, and why nothing can be said ("" = something can).
struct Fault {
  std::string_view code = "IMP001";
  std::string message = {}, lack = {}, hint = {};
};

struct Loaded {
  ChildOutput said;
  bool with_stand_ins = false;
};

class ImportCheck {
 public:
  /// `name`: what the user calls the interpreter.
  ImportCheck(const Artifact& artifact, const ChildPythons& pythons, fs::path python, std::string name,
              std::set<std::string>& imported, FindingList& findings)
      : m_artifact(artifact),
        m_pythons(pythons),
        m_python(std::move(python)),
        m_name(std::move(name)),
        m_imported(imported),
        m_findings(findings) {}

  /// True when every module was loaded. Errors: interrupted, no room for a stand-in.
  Result<bool> run(const std::vector<Importable>& modules) {
    const std::size_t at_once = std::min<std::size_t>(available_threads(), k_most_at_once);
    int timeouts = 0;
    TRY_ASSIGN(const auto with_one_torch, load_with_one_torch(modules));
    for (std::size_t first = 0; first < modules.size(); first += at_once) {
      const std::span batch(modules.data() + first, std::min(at_once, modules.size() - first));
      if (timeouts >= k_most_timeouts) {
        m_all_load = false;
        for (const auto& module : batch) lacks("not tried, for others before it did not come back", module.name);
        continue;
      }
      std::vector<std::optional<Result<Loaded>>> loaded(batch.size());
      run_in_parallel(batch.size(), static_cast<unsigned>(at_once), [&](std::size_t i) {
        const auto found = with_one_torch.find(batch[i].name);
        loaded[i] = found != with_one_torch.end() ? Loaded{found->second} : load(batch[i]);
      });
      for (std::size_t i = 0; i < batch.size(); ++i) {
        TRY_ASSIGN(const auto one, std::move(*loaded[i]));
        if (const auto why = torch_misfit(m_artifact, one.said); !why.empty()) {
          m_findings.skipped("IMP001", fmt::format("{}: {}", m_name, why));
          return false;
        }
        timeouts += one.said.result.timed_out;
        judge(batch[i], one);
      }
    }
    for (const auto& [why, names] : m_lacking)
      m_findings.skipped("IMP001", fmt::format("{} in {}: {}", join(names, ", "), m_name, why));
    return m_all_load;
  }

  /// As users do: the packages, then all modules, in one process, for torch takes seconds to import. What fails there
  /// is looked for as run() does.
  Result<bool> try_all(const std::vector<Importable>& modules) {
    const auto packages = top_packages(m_artifact);
    Json order{{"packages", packages}, {"modules", Json::array()}};
    for (const auto& module : modules) order["modules"].push_back(order_of(module));
    TRY_ASSIGN(const auto said, m_pythons.ask(m_python, k_child_import_module, order, k_seconds));
    if (!said.truth("ok") || !said.result.ok()) return run(modules);
    m_imported.insert(packages.begin(), packages.end());
    m_findings.note("IMP001", fmt::format("{} modules import in {}", modules.size(), m_name));
    return true;
  }

 private:
  /// What was said of those that want torch and load in a fork of one process that has imported it: it takes seconds.
  Result<std::map<std::string, ChildOutput>> load_with_one_torch(const std::vector<Importable>& modules) {
    std::map<std::string, ChildOutput> loaded;
    Json each = Json::array();
    for (const auto& module : modules)
      if (module.torch) each.push_back(order_of(module));
    if (each.size() < 2) return loaded;
    TRY_ASSIGN(const auto said, ask(Json{{"each", std::move(each)}}));
    std::vector<Json> before;
    auto one = loaded.end();
    for (const auto& line : said.lines) {
      if (const auto name = text_at(line, "begin"); !name.empty())
        one = loaded.insert_or_assign(name, ChildOutput{before, {}}).first;
      (one == loaded.end() ? before : one->second.lines).push_back(line);
    }
    std::erase_if(loaded, [](const auto& entry) { return !entry.second.truth("ok"); });
    return loaded;
  }

  /// First as the machine is; where the loader misses a library of the driver, again with one that stands in for it.
  Result<Loaded> load(const Importable& module) {
    TRY_ASSIGN(auto said, load(module, {}));
    const auto missing = read_loader_message(said.text("error"));
    if (missing.kind != Kind::library || !is_driver_library(missing.name)) return Loaded{std::move(said)};
    TRY_ASSIGN(const auto files, stand_ins());
    if (files.empty()) return Loaded{std::move(said)};
    TRY_ASSIGN(said, load(module, files));
    return Loaded{std::move(said), true};
  }

  /// The files that stand in for the driver's libraries, written when the first module wants them.
  Result<std::vector<std::string>> stand_ins() {
    const std::lock_guard lock(m_mutex);
    if (m_stand_ins) return *m_stand_ins;
    std::vector<std::string> files;
    for (const auto& library : driver_libraries(m_artifact.members)) {
      const auto file = m_pythons.home() / library;
      const auto content = driver_stand_in(m_artifact.members, library);
      if (content.empty()) continue;
      TRY(write_file(file, content));
      files.push_back(file.string());
    }
    return m_stand_ins.emplace(std::move(files));
  }

  Result<ChildOutput> load(const Importable& module, const std::vector<std::string>& stand_ins) {
    auto order = order_of(module);
    order["stand_ins"] = stand_ins;
    return ask(order);
  }

  static Json order_of(const Importable& module) {
    return {{"name", module.name}, {"path", module.path}, {"library", module.library}, {"torch", module.torch}};
  }

  /// What the loader is told by the environment is no property of the wheel.
  Result<ChildOutput> ask(const Json& order) const {
    return m_pythons.ask(m_python, k_child_import_module, order, k_seconds, {{"LD_LIBRARY_PATH", ""}});
  }

  void judge(const Importable& module, const Loaded& loaded) {
    const ChildOutput& said = loaded.said;
    const std::string with = loaded.with_stand_ins ? " with a stand-in for the driver" : "";
    const std::string where = module.path.empty() ? module.name : module.path;
    if (said.truth("ok")) {
      const auto alone = said.truth("alone") ? fmt::format(", by itself: its package needs {}, which that Python lacks",
                                                           said.text("missing"))
                                             : "";
      m_findings.note(
          "IMP001",
          fmt::format("{} {} in {}{}{}", module.name, module.library ? "loads" : "imports", m_name, with, alone),
          where);
      return;
    }
    m_all_load = false;
    const Fault fault = find_fault(module, said);
    if (!fault.lack.empty())
      lacks(fault.lack, module.name);
    else
      m_findings.broken(fault.code, fmt::format("{} in {}{}: {}", module.name, m_name, with, fault.message), where,
                        hint_of(fault, said));
  }

  /// What explain makes of the message, first.
  std::string hint_of(const Fault& fault, const ChildOutput& said) const {
    const auto cause = first_cause_in_words(said.text("type") + ": " + said.text("error"),
                                            {{"os", "linux"}, {"python_program", shell_word(m_name)}});
    return cause.empty() || fault.hint.empty() ? cause + fault.hint : cause + "; " + fault.hint;
  }

  void lacks(const std::string& why, const std::string& name) { m_lacking[why].push_back(name); }

  Fault find_fault(const Importable& module, const ChildOutput& said) const {
    if (said.text("begin").empty())
      return {.lack = module.torch ? "that Python ends while it imports torch" : "that Python ended before it began"};
    if (said.text("type").empty()) return ended(said.result);
    std::string message = replace_all(said.text("error"), m_pythons.tree().string() + "/", "");
    const auto loader = read_loader_message(message);
    switch (loader.kind) {
      case Kind::library: return library(loader);
      case Kind::symbol: return symbol(module, loader, said);
      case Kind::version:
        if (m_artifact.find_library(base_name(loader.object)) == nullptr)
          return {.lack = fmt::format("this machine's {} has no {}", base_name(loader.object), loader.name)};
        return {"IMP003", fmt::format("{} of the wheel has no {}", loader.object, loader.name), {}, {}};
      case Kind::other: break;
    }
    const auto missing = said.text("missing");
    if (said.text("type") == "ModuleNotFoundError" && !missing.empty() && !holds_package(m_artifact, missing))
      return {.lack = fmt::format("that Python has no {}", missing.substr(0, missing.find('.')))};
    return {"IMP001", fmt::format("{}: {}", said.text("type"), message), {}, {}};
  }

  static Fault ended(const CommandResult& result) {
    if (result.timed_out)
      return {"IMP004", fmt::format("loading it does not come back within {} s", k_seconds), {}, {}};
    const auto how =
        result.signal != 0 ? fmt::format("signal {}", result.signal) : fmt::format("exit code {}", result.exit_code);
    const auto last = one_line(split(trim(result.error_output), '\n').back());
    return {
        "IMP004", fmt::format("loading it ends the interpreter ({}){}", how, last.empty() ? "" : ": " + last), {}, {}};
  }

  Fault library(const LoaderMessage& loader) const {
    if (is_driver_library(loader.name))
      return {.lack = fmt::format("this machine has no NVIDIA driver ({})", loader.name)};
    if (const MemberFacts* member = m_artifact.find_library(loader.name))
      return {"IMP002",
              fmt::format("{} is not found, although it is in the wheel", loader.name),
              {},
              fmt::format("it is {}: the run path of what needs it does not lead there", member->path)};
    if (is_torch_library(loader.name) || is_expected(loader.name))
      return {.lack = fmt::format("{} is not on this machine", loader.name)};
    return {
        "IMP002", fmt::format("{} is not found", loader.name), {}, "put it into the wheel, or require what brings it"};
  }

  /// A library that the spec or the requirements bring: its absence here says nothing about the wheel.
  bool is_expected(const std::string& library) const {
    const auto matches = [&](std::string_view glob) { return glob_match(glob, library); };
    // What the CUDA toolkit and its companions are called; their wheels are nvidia-*.
    static constexpr std::string_view k_cuda[] = {"libcu*.so*", "libnv*.so*", "libnccl.so*", "libnpp*.so*"};
    if (std::ranges::any_of(k_cuda, matches)) return true;
    return m_artifact.spec != nullptr && std::ranges::any_of(m_artifact.spec->verify.needed_allowed, matches);
  }

  Fault symbol(const Importable& module, const LoaderMessage& loader, const ChildOutput& said) const {
    const auto torch = said.text("torch");
    if (!torch.empty() && !declared_torch(m_artifact))
      return {.lack = fmt::format("torch {} of that Python has no {}, and the wheel does not say which torch it is for",
                                  torch, name_for_people(loader.name))};
    return {"IMP003",
            fmt::format("nothing defines {}{}", name_for_people(loader.name),
                        base_name(loader.object) == base_name(module.path) || loader.object.empty()
                            ? ""
                            : fmt::format(", which {} wants", base_name(loader.object))),
            {},
            torch.empty() ? "" : fmt::format("the interpreter has torch {}", torch)};
  }

  const Artifact& m_artifact;
  const ChildPythons& m_pythons;
  fs::path m_python;
  std::string m_name;
  std::set<std::string>& m_imported;
  FindingList& m_findings;
  bool m_all_load = true;
  std::mutex m_mutex;
  std::optional<std::vector<std::string>> m_stand_ins;        // files; nothing = not written yet
  std::map<std::string, std::vector<std::string>> m_lacking;  // by reason
};

}  // namespace

Status check_imports(const Artifact& artifact, const VerifyOptions& options, CommandRunner& runner,
                     std::set<std::string>& imported, FindingList& findings) {
  if (options.interpreters.empty())
    return findings.skip_rest("no interpreter was given or found to import with",
                              "--interpreter PATH, a Python that has what this wheel requires"),
           Status();
  const auto modules = importable_modules(artifact);
  constexpr auto k_no_module = "there is no extension module to import";
  // What was installed by pip for that Python was asked by it.
  if (modules.empty() && options.trial) return findings.done("IMP001", k_no_module), Status();
  auto pythons = ChildPythons::unpack(artifact, options, runner);
  if (!pythons && pythons.error().kind == ErrorKind::failed)
    return findings.skip_rest(pythons.error().message, pythons.error().hint), Status();
  if (!pythons) return std::unexpected(pythons.error());

  std::vector<std::string> misfits;
  bool complete = true;
  for (const auto& python : options.interpreters) {
    imported.clear();
    // The Python that has it installed was asked before.
    if (options.trial) {
      TRY_ASSIGN(complete,
                 ImportCheck(artifact, *pythons, python, python.string(), imported, findings).try_all(modules));
      continue;
    }
    const auto about = pythons->ask(python, k_child_import_module, Json{{"name", ""}}, k_seconds);
    if (!about && about.error().kind == ErrorKind::interrupted) return std::unexpected(about.error());
    const auto why = !about ? "it does not start" : python_misfit(artifact, *about);
    if (!why.empty()) {
      misfits.push_back(fmt::format("{}: {}", python.string(), why));
      continue;
    }
    const auto own_path = about->raw("executable");  // a shim of a version manager may need the HOME that children lack
    TRY_ASSIGN(const bool all, ImportCheck(artifact, *pythons, own_path.empty() ? python : fs::path(own_path),
                                           python.string(), imported, findings)
                                   .run(modules));
    complete = complete && all;
  }
  if (misfits.size() == options.interpreters.size()) {
    if (!artifact.finished) return findings.skip_rest(join(misfits, "; ")), Status();
    findings.broken("IMP005", join(misfits, "; "), {}, "give the Python that the wheel is for with --interpreter");
    return findings.skip_rest("no interpreter that was given fits"), Status();
  }
  findings.done("IMP005");
  if (modules.empty()) findings.done("IMP001", k_no_module);
  if (!complete) findings.skip_rest("not every module was loaded");
  return {};
}

}  // namespace sagekit
