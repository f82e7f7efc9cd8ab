#include "install/trial.hpp"

#include "causes/in_words.hpp"
#include "install/installed_packages.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/shell_word.hpp>

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

constexpr double k_import_seconds = 300;
// Says what it is about to import, so that one which ends the interpreter is known by its name.
constexpr std::string_view k_importing = "importing ";
constexpr std::string_view k_import =
    "import importlib, sys\n"
    "for name in sys.argv[1:]:\n"
    "    print('importing', name, flush=True)\n"
    "    importlib.import_module(name)\n";

/// The Python packages and modules that it brings, not the machine code: that was loaded module by module.
std::vector<std::string> top_names(const std::vector<fs::path>& files, const fs::path& site) {
  std::set<std::string> names;
  for (const auto& file : files) {
    const auto path = file.lexically_relative(site).generic_string();
    const auto parts = split(path, '/');
    if (parts.size() == 1 && path.ends_with(".py")) names.insert(path.substr(0, path.size() - 3));
    if (parts.size() == 2 && parts[1] == "__init__.py") names.insert(parts[0]);
  }
  return {names.begin(), names.end()};
}

std::string imported_last(const std::string& output, const std::vector<std::string>& names) {
  std::string last = names.front();
  for (const auto& line : split(output, '\n'))
    if (line.starts_with(k_importing) && contains(names, line.substr(k_importing.size())))
      last = line.substr(k_importing.size());
  return last;
}

/// As its users do, all in one Python: each start would bring a torch of its own.
Status import_packages(std::vector<std::string> names, Installed& done, const InstallOptions& options,
                       CommandRunner& runner) {
  while (!names.empty()) {
    Command command;
    command.argv = {done.place.interpreter.string(), "-I", "-B", "-c", std::string(k_import)};
    command.argv.insert(command.argv.end(), names.begin(), names.end());
    command.environment = options.environment;
    command.timeout_seconds = k_import_seconds;
    TRY_ASSIGN(const auto result, runner.run(command));
    if (result.ok()) return {};
    const auto name = imported_last(result.output, names);
    const auto lines = split(trim(result.output), '\n');
    const std::string why = result.timed_out     ? fmt::format("it does not come back within {} s", k_import_seconds)
                            : result.signal != 0 ? fmt::format("it ends the interpreter (signal {})", result.signal)
                                                 : trim(lines.back());
    if (why.find("libcuda.so") == std::string::npos)
      return fail(ErrorKind::failed, "IST008", fmt::format("import {} fails: {}", name, why),
                  options.no_deps && why.find("No module named") != std::string::npos
                      ? "a package that it needs is missing; --no-deps leaves those alone"
                      : first_cause_in_words(result.output, facts_of(done.place.machine)));
    // Where images are built there is no driver; what needs one is tried where it will run.
    done.untried.push_back(fmt::format("import {}: this machine has no NVIDIA driver ({})", name, why));
    names.erase(names.begin(), std::ranges::find(names, name) + 1);
  }
  return {};
}

/// Whatever verify starts ends with the install that asked for it.
class StoppedRunner final : public CommandRunner {
 public:
  StoppedRunner(CommandRunner& inner, std::stop_token stop) : m_inner(inner), m_stop(std::move(stop)) {}

  Result<CommandResult> run(const Command& command, std::stop_token) override { return m_inner.run(command, m_stop); }

 private:
  CommandRunner& m_inner;
  std::stop_token m_stop;
};

bool is_gate(const Finding& finding) { return finding.code.starts_with("RUN1"); }

}  // namespace

LogFacts facts_of(const Target& machine) {
  LogFacts facts{{"os", machine.platform.starts_with("win") ? "windows" : "linux"},
                 {"machine", machine.platform.substr(machine.platform.find('_') + 1)},
                 {"python", machine.python},
                 {"torch", machine.torch},
                 {"cuda", machine.torch_cuda == "none" ? "" : machine.torch_cuda}};
  if (machine.gpus && !machine.gpus->empty()) {
    facts["gpu"] = machine.gpus->front().name;
    facts["capability"] = to_string(machine.gpus->front().capability);
    facts["driver"] = machine.gpus->front().driver;
  }
  if (!machine.interpreter.empty()) facts["python_program"] = shell_word(machine.interpreter.string());
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

Status try_installed(Installed& done, const InstallOptions& options, CommandRunner& given, std::stop_token stop) {
  StoppedRunner runner(given, std::move(stop));
  VerifyOptions how;
  how.policy = "others";
  how.interpreters = {done.place.interpreter};
  how.child_environment = options.environment;
  how.gpu = options.gpu;
  how.trial = true;
  auto reports = verify_folder(done.place.site, {{done.package}}, options.resolving.plugins, how, runner);
  if (!reports) return std::unexpected(reports.error());
  done.report = std::move(reports->front());
  for (const auto& finding : done.report.findings) {
    const bool gate = is_gate(finding);
    if (!gate && !finding.code.starts_with("IMP")) continue;
    if (finding.result == FindingResult::fail)
      return fail(ErrorKind::failed, gate ? "IST009" : "IST008",
                  fmt::format("{} ({}){}{}", gate ? "the numeric gate failed it" : "it does not import", finding.code,
                              finding.message.empty() ? "" : ": ", finding.message),
                  finding.hint, finding.where);
    // Codes that lack the same thing are said once.
    if (finding.result == FindingResult::skipped && (options.gpu || !gate) && !contains(done.untried, finding.message))
      done.untried.push_back(finding.message);
  }
  const auto packages = read_installed_packages(done.place.folders);
  const auto found = packages.find(done.package);
  if (found == packages.end()) return {};
  auto names = top_names(files_of(found->second), done.place.site);
  std::erase_if(names, [&](const std::string& name) { return contains(done.report.imported, name); });
  return import_packages(std::move(names), done, options, runner);
}

}  // namespace sagekit
