#include "explain.hpp"
#include "output_file.hpp"
#include "printable.hpp"
#include "render/job_summary.hpp"
#include "render/status_line.hpp"
#include "render/text.hpp"
#include "render/wheel_report.hpp"
#include "session.hpp"
#include "standard_input.hpp"
#include "verb.hpp"

#include <sagekit/finding.hpp>
#include <sagekit/naming.hpp>
#include <sagekit/shell_word.hpp>
#include <sagekit/verify.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace sagekit::host {

namespace {

namespace fs = std::filesystem;

struct VerifyArguments {
  std::vector<std::string> paths;  ///< wheels, folders
  std::string policy;              ///< own, others, pypi or a file; "" = by who made the wheel
  std::vector<std::string> interpreters, require, packages, installed;
  std::string sha256_file, sarif_file, explain;
  std::string format;  ///< text, json, sarif, github; "" = text, or json with --json
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;
  bool all = false, gpu = false;
};

void declare(Flags& flags, VerifyArguments& arguments) {
  flags.arguments("path", arguments.paths,
                  "Wheels; folders of wheels; unpacked or installed packages; site-packages; - is a wheel on stdin");
  flags.value("--policy", "NAME|FILE", arguments.policy,
              "own, others, pypi, or a policy file; without it own for what sagekit built, others else");
  flags
      .list("--require", "FAMILY", arguments.require, "A check of this family that cannot be made fails: IMP, FAT, ...")
      .commas = true;
  declare_interpreters(flags, arguments.interpreters);
  flags.on("--gpu", arguments.gpu, "Launch the package's own numeric cases on this machine's GPU");
  flags.list("--package", "NAME", arguments.packages, "Of a folder with several packages, or their wheels, only these")
      .commas = true;
  flags.list("--installed", "NAME", arguments.installed, "A package that --interpreter has installed").commas = true;
  flags.value("--sha256", "FILE", arguments.sha256_file, "Checksums to hold the wheels to, as sha256sum writes them");
  flags.value("--format", "FORM", arguments.format, "What stdout gets; github: annotations").choices = {
      "text", "json", "sarif", "github"};
  flags.value("--sarif", "FILE", arguments.sarif_file,
              "Write SARIF 2.1.0 to this file too; - is stdout, instead of text");
  flags.on("--all", arguments.all, "List passes, skipped checks with their reasons and every GPU too");
  flags.memory("--memory", arguments.memory_bytes, "Memory for members in flight; without it 2G");
  flags.value("--explain", "CODE", arguments.explain, "What a code means and how to mend it; a family lists its codes");
  flags.reads("GITHUB_ACTIONS", "\"true\": findings become annotations of the run");
  flags.reads("GITHUB_STEP_SUMMARY", "With GITHUB_ACTIONS: the file that a summary of all wheels is added to");
  flags.reads("SAGEKIT_STORE", "Where fetched torches are, which symbols are looked up in");
}

/// --policy: one of the three words, else a file. False: what is wrong with it was said.
bool read_policy(const Session& session, const std::string& word, VerifyOptions& options) {
  std::error_code error;
  // A folder "pypi" beside it is no policy.
  const bool file = word.find_first_of("./") != std::string::npos || fs::is_regular_file(word, error);
  if (word.empty() || !file) return options.policy = word, true;
  const auto text = file_text(word);
  if (!text) return report(session, read_error(word, "FIL001", "built in are own, others and pypi")), false;
  auto policy = parse_policy_file(*text, word);
  if (policy) {
    options.policy_file = std::move(*policy);
    return true;
  }
  for (const auto& diagnostic : policy.error()) session.console.show(diagnostic);
  return false;
}

/// Everything that was asked for, judged; what could not be is said, and decides the exit code.
class Run {
 public:
  Run(const Session& session, const VerifyArguments& arguments, const VerifyOptions& options,
      std::vector<const Plugin*> plugins)
      : m_session(session),
        m_arguments(arguments),
        m_options(options),
        m_plugins(std::move(plugins)),
        m_status(session.console, session.settings.redraws) {}

  /// Files and folders; a folder of wheels stands for them.
  void paths(const std::vector<std::string>& given) {
    std::vector<fs::path> all;
    for (const fs::path path : given) {
      std::error_code error;
      // A folder of wheels stands for them; an unpacked package may have some of its own.
      const bool folder = fs::is_directory(path, error) && files_in(path, {".dist-info"}).empty();
      const auto wheels = folder ? files_in(path, {".whl"}) : std::vector<fs::path>{};
      if (folder) say_below(path, given);
      if (wheels.empty()) {
        all.push_back(path);
      } else {
        const auto before = all.size();
        std::ranges::copy_if(wheels, std::back_inserter(all), [&](const fs::path& wheel) { return is_wanted(wheel); });
        if (all.size() == before)
          failed({ErrorKind::no_match, "VFY004",
                  fmt::format("no wheel of {} is in {}", fmt::join(m_arguments.packages, ", "), path.string()),
                  path.string(), fmt::format("{} is one that is there", wheels.front().filename().string())});
      }
    }
    std::set<fs::path> seen;  // a glob beside its folder names wheels twice
    std::erase_if(all, [&](const fs::path& path) { return !seen.insert(path.lexically_normal()).second; });
    m_expected = all.size();
    for (const auto& path : all) {
      std::error_code error;
      m_status.show(fmt::format("[{}/{}] {}", ++m_begun, m_expected, path.filename().string()));
      if (fs::is_directory(path, error))
        folder(path, {m_arguments.packages});
      else
        wheel(path);
    }
    m_status.clear();
  }

  /// Wheels in folders below one that was given, as CI systems unpack artifacts: what is not judged is said.
  void say_below(const fs::path& folder, const std::vector<std::string>& given) {
    std::error_code error;
    std::set<fs::path> named;
    for (const auto& path : given) named.insert(fs::canonical(path, error));
    named.erase(fs::path());  // what is not there
    const auto is_named = [&](const fs::path& path) { return named.contains(fs::canonical(path, error)); };
    std::set<std::string> folders;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
    for (; !error && at != end; at.increment(error))
      if (const auto& path = at->path();
          at.depth() > 0 && path.extension() == ".whl" && !is_named(path) && !is_named(path.parent_path()))
        folders.insert(shell_word(path.parent_path().string()));
    if (!folders.empty())
      m_session.console.warn(fmt::format("wheels in folders below {} are not judged", folder.string()),
                             fmt::format("name those folders, too: {}", fmt::join(folders, " ")));
  }

  /// After many: what failed in full, then how many passed and the failed ones' names.
  void end() {
    if (m_arguments.format != "text" || m_reports.size() + m_errors.size() < 2) return;
    if (m_lines)
      for (const auto& one : m_reports)
        if (!one.pass) whole_report(one);
    m_session.console.result("\n" + total_text(m_session.console, m_reports, m_errors, terminal_width()));
  }

  /// The first of the interpreter's folders that has the package.
  void installed(const std::string& name, const fs::path& interpreter) {
    const auto folders = package_folders(interpreter, m_options.child_environment, *m_session.runner);
    if (!folders) return failed(folders.error());
    Error last{ErrorKind::no_match, "VFY004", fmt::format("{} has no installed package {}", interpreter.string(), name),
               interpreter.string(), "spell it as pip list does"};
    for (const auto& place : *folders) {
      auto found = verify_folder(place, {{name}}, m_plugins, m_options, *m_session.runner);
      if (found) return keep(std::move(*found));
      if (found.error().code != "VFY004") return failed(found.error());
      if (!found.error().hint.empty()) last.hint = found.error().hint;
    }
    failed(last);
  }

  /// What was asked to run on a GPU and could not is no success.
  void expect_gpu() {
    for (const auto& one : m_reports) {
      if (!one.gpu.empty()) continue;
      const auto why = std::ranges::find_if(one.findings, [](const Finding& finding) {
        return finding.code.starts_with("RUN1") && finding.result == FindingResult::skipped;
      });
      failed({ErrorKind::machine, "VFY020",
              fmt::format("--gpu: this machine cannot run its cases{}",
                          why == one.findings.end() ? "" : ": " + why->message),
              one.path, why == one.findings.end() ? "" : why->hint});
    }
  }

  const std::vector<WheelReport>& reports() const { return m_reports; }
  const std::vector<Error>& errors() const { return m_errors; }
  int code() const { return m_code; }

 private:
  /// Is the wheel, by its file name, of a package of --package?
  bool is_wanted(const fs::path& wheel) const {
    const auto name = wheel.filename().string();
    const auto project = normalized_project(name.substr(0, name.find('-')));
    return m_arguments.packages.empty() || std::ranges::any_of(m_arguments.packages, [&](const std::string& wanted) {
             return normalized_project(wanted) == project;
           });
  }

  /// A wheel from stdin has the name that its own metadata gives it.
  void standard_input() {
    const auto taken = take_standard_input("verify");
    if (!taken) return failed(taken.error());
    auto found = verify_wheel(taken->path(), name_of(taken->path()), m_plugins, m_options, *m_session.runner);
    if (!found) return failed(found.error());
    found->path = "-";
    keep({std::move(*found)});
  }

  void wheel(const fs::path& path) {
    if (path == "-") return standard_input();
    auto found = verify_wheel(path, "", m_plugins, m_options, *m_session.runner);
    if (!found) {
      // "verify sageattention", as pip show takes it.
      if (auto& error = found.error();
          error.code == "FIL001" && error.hint.empty() && !path.has_parent_path() && path.extension() != ".whl")
        error.hint = fmt::format("an installed package is judged with --installed {} --interpreter PYTHON",
                                 shell_word(path.string()));
      return failed(found.error());
    }
    keep({std::move(*found)});
  }

  void folder(const fs::path& path, const FolderChoice& choice) {
    auto found = verify_folder(path, choice, m_plugins, m_options, *m_session.runner);
    if (!found) return failed(found.error());
    keep(std::move(*found));
  }

  void failed(const Error& error) {
    m_status.clear();
    m_code = std::max(m_code, report(m_session, error));
    m_errors.push_back(error);
  }

  bool many() const { return m_expected > 1 || m_reports.size() > 1; }

  void whole_report(const WheelReport& one) {
    const Console& console = m_session.console;
    console.result((many() ? "\n" : "") + console.bold(one_line(one.path)) + "\n" +
                   wheel_report_text(console, one, m_arguments.all ? "" : "--all", terminal_width()));
  }

  void keep(std::vector<WheelReport> reports) {
    for (auto& one : reports) {
      if (!one.pass) m_code = std::max(m_code, 1);
      if (m_arguments.format == "text" && m_session.console.quiet()) {
        show_errors(one);
      } else if (m_arguments.format == "text") {
        m_status.clear();
        // One of several is a line; asked for everything, or alone, it is shown whole.
        m_lines = !m_arguments.all && (m_expected > 1 || reports.size() > 1);
        if (m_lines)
          m_session.console.result(wheel_line(m_session.console, one, terminal_width()));
        else
          whole_report(one);
      }
      m_reports.push_back(std::move(one));
    }
  }

  /// With -q: the findings that fail it, and nothing else.
  void show_errors(const WheelReport& wheel) const {
    const auto file = fs::path(wheel.path).filename().string();
    for (const auto& finding : wheel.findings)
      if (finding.result == FindingResult::fail)
        m_session.console.show(Error{ErrorKind::failed, finding.code, finding.message,
                                     finding.where.empty() || finding.where == wheel.path || finding.where == file
                                         ? wheel.path
                                         : fmt::format("{}: {}", wheel.path, finding.where),
                                     finding.hint});
  }

  const Session& m_session;
  const VerifyArguments& m_arguments;
  const VerifyOptions& m_options;
  std::vector<const Plugin*> m_plugins;
  StatusLine m_status;
  std::vector<WheelReport> m_reports;
  std::size_t m_expected = 0, m_begun = 0;
  bool m_lines = false;
  std::vector<Error> m_errors;  ///< what could not be judged
  int m_code = 0;
};

VerifyOptions make_options(const Session& session, const VerifyArguments& arguments) {
  VerifyOptions options;
  options.today = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::now()));
  options.require = arguments.require;
  options.child_environment = session.settings.child_environment;
  options.torches = session.fetched_torches();
  options.fetch_flags = session.store_words("");
  options.gpu = arguments.gpu;
  options.sha256_file = arguments.sha256_file;
  options.memory_bytes = arguments.memory_bytes;
  options.schemes = session.schemes;
  return options;
}

/// The results in the form that was asked for; text was printed wheel by wheel.
int show(const Session& session, const VerifyArguments& arguments, const Run& run, const Diagnostics& stale) {
  const Console& console = session.console;
  const auto& reports = run.reports();
  int code = run.code();
  for (const auto& one : stale) {
    if (one.severity == Severity::error) code = std::max(code, 1);
    if (one.severity == Severity::error || !console.quiet()) console.show(one);
  }
  if (arguments.format == "json") console.document(verify_json(reports, arguments.all, stale, run.errors()));
  if (arguments.format == "sarif") console.document(verify_sarif(reports, run.errors(), stale));
  // What a foreign wheel says must not drive a terminal here either.
  std::string annotations;
  if (arguments.format == "github" || session.settings.github_actions)
    annotations = printable(verify_annotations(reports, !console.quiet(), run.errors(), stale));
  if (arguments.format == "github") console.document(annotations);
  // A log of GitHub Actions is read by GitHub itself: both streams of it.
  if (session.settings.github_actions && arguments.format == "text")
    console.document(annotations);
  else if (arguments.format != "github" && !annotations.empty())
    console.say(annotations.substr(0, annotations.size() - 1));
  if (const auto& summary = session.settings.step_summary; !summary.empty() && reports.size() + run.errors().size() > 0)
    if (std::ofstream page(summary, std::ios::binary | std::ios::app);
        !(page << job_summary(reports, run.errors())).flush())
      code = std::max(code, report(session, write_error("the job summary " + summary.string(), errno)));
  const bool trouble = std::ranges::any_of(reports, [](const WheelReport& one) { return !one.pass; });
  if (arguments.format == "text" && trouble) console.say("sagekit explain CODE says what a code means");
  if (arguments.sarif_file.empty()) return code;
  const auto written =
      write_output(arguments.sarif_file, OutputKind::findings, verify_sarif(reports, run.errors(), stale));
  return written ? code : std::max(code, report(session, written.error()));
}

int run(Session& session, const VerifyArguments& given) {
  if (!given.explain.empty()) return explain_code(session, given.explain);
  if (given.paths.empty() && given.installed.empty())
    return report(session, {ErrorKind::usage, "CLI001", "verify needs a wheel or a folder", "",
                            "sagekit verify dist/*.whl; see sagekit verify --help"});
  if (!given.installed.empty() && given.interpreters.empty())
    return report(session, {ErrorKind::usage, "CLI001", "--installed needs to know which Python has the package", "",
                            "--interpreter .venv/bin/python"});
  VerifyArguments arguments = given;
  if (arguments.sarif_file == "-" && (session.global.json || !arguments.format.empty()))
    return report(session, {ErrorKind::usage, "CLI001",
                            fmt::format("--sarif - and {} both want stdout",
                                        session.global.json ? "--json" : "--format " + arguments.format),
                            "", "name a file: --sarif findings.sarif"});
  if (session.global.json && !arguments.format.empty() && arguments.format != "json")
    return report(
        session,
        {ErrorKind::usage, "CLI001", fmt::format("--json and --format {} both want stdout", arguments.format), "",
         arguments.format == "sarif" ? "choose one; --sarif FILE writes SARIF beside --json" : "choose one"});
  if (auto inputs = arguments.paths; !arguments.sarif_file.empty() && arguments.sarif_file != "-") {
    inputs.insert(inputs.end(), {arguments.policy, arguments.sha256_file});
    if (const auto free = check_output(arguments.sarif_file, OutputKind::findings, inputs); !free)
      return report(session, free.error());
  }
  if (arguments.format.empty()) arguments.format = session.global.json ? "json" : "text";
  if (arguments.sarif_file == "-") arguments.format = "sarif", arguments.sarif_file.clear();
  VerifyOptions options = make_options(session, arguments);
  auto interpreters = find_interpreters(session, arguments.interpreters);
  if (!interpreters) return report(session, interpreters.error());
  options.interpreters = std::move(*interpreters);
  if (!read_policy(session, arguments.policy, options)) return exit_code(ErrorKind::usage);
  if (const auto right = check_options(options); !right) return report(session, right.error());
  auto loaded = session.plugins();
  if (!loaded) return report(session, loaded.error());
  std::vector<const Plugin*> plugins;
  for (const auto& plugin : loaded->plugins) plugins.push_back(&plugin);

  Run run(session, arguments, options, std::move(plugins));
  run.paths(arguments.paths);
  for (const auto& name : arguments.installed)
    for (const auto& interpreter : options.interpreters) run.installed(name, interpreter);
  run.end();
  if (arguments.gpu) run.expect_gpu();
  Diagnostics stale;
  if (options.policy_file && !run.reports().empty()) stale = stale_waivers(*options.policy_file, run.reports());
  return show(session, arguments, run, stale);
}

}  // namespace

std::vector<Verb> verify_verbs() {
  return {make_verb<VerifyArguments>(
      {.name = "verify",
       .what = "Judge finished wheels, unpacked and installed packages, any maker's",
       .examples = {"sagekit verify dist/*.whl", "sagekit verify --policy pypi --json dist/*.whl",
                    "sagekit verify --policy wheels.toml --sarif findings.sarif dist/*.whl",
                    "sagekit verify --installed sageattention --interpreter .venv/bin/python",
                    "curl -sL https://example.org/their.whl | sagekit verify -", "sagekit explain ELF003"},
       .exits = {{0, "no finding is an error; warnings and skipped checks may be there"},
                 {1, "a finding is an error, or a readable file is no wheel"},
                 {3, "--gpu: this machine has no GPU or no Python that can run the cases"},
                 {4, "no package of that name"}}},
      declare, run)};
}

}  // namespace sagekit::host
