#include "explanation.hpp"
#include "judgement.hpp"
#include "session.hpp"

#include <sagekit/finding.hpp>
#include <sagekit/verify.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace sagekit::host {

namespace {

namespace fs = std::filesystem;

int explain(const Session& session, const std::string& code) {
  const auto pages = explain_finding(code);
  if (!pages) return report(session, pages.error());
  session.console.result(session.global.json ? findings_json(*pages) : explanation_text(session.console, *pages));
  return 0;
}

Result<std::string> read_text(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error))
    if (std::ifstream file(path, std::ios::binary); file) return std::string(std::istreambuf_iterator<char>(file), {});
  return fail(ErrorKind::usage, "FIL001", fmt::format("cannot read {}: it is no readable file", path.string()), {},
              path.string());
}

/// --policy: one of the three words, else a file. False: what is wrong with it was said.
bool read_policy(const Session& session, const std::string& word, VerifyOptions& options) {
  std::error_code error;
  const bool file = word.find_first_of("./") != std::string::npos || fs::exists(word, error);
  if (word.empty() || !file) {
    options.policy = word;
    return true;
  }
  const auto text = read_text(word);
  if (!text) return report(session, text.error()), false;
  auto policy = parse_policy_file(*text, word);
  if (policy) {
    options.policy_file = std::move(*policy);
    return true;
  }
  for (const auto& diagnostic : policy.error()) session.console.show(diagnostic);
  return false;
}

/// A folder of wheels stands for them; "" = it is another folder.
std::vector<fs::path> wheels_in(const fs::path& folder) {
  std::vector<fs::path> wheels;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const auto name = at->path().filename().string();
    if (name.ends_with(".dist-info")) return {};
    if (name.ends_with(".whl")) wheels.push_back(at->path());
  }
  std::ranges::sort(wheels);
  return wheels;
}

/// Everything that was asked for, judged; what could not be is said, and decides the exit code.
class Run {
 public:
  Run(const Session& session, const VerifyArguments& arguments, const VerifyOptions& options,
      std::vector<const Plugin*> plugins)
      : m_session(session), m_arguments(arguments), m_options(options), m_plugins(std::move(plugins)) {}

  void path(const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return wheel(path);
    const auto wheels = wheels_in(path);
    for (const auto& one : wheels) wheel(one);
    if (wheels.empty()) folder(path, {m_arguments.packages});
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

  const std::vector<WheelReport>& reports() const { return m_reports; }
  int code() const { return m_code; }

 private:
  void wheel(const fs::path& path) {
    auto found = verify_wheel(path, "", m_plugins, m_options, *m_session.runner);
    if (!found) return failed(found.error());
    keep({std::move(*found)});
  }

  void folder(const fs::path& path, const FolderChoice& choice) {
    auto found = verify_folder(path, choice, m_plugins, m_options, *m_session.runner);
    if (!found) return failed(found.error());
    keep(std::move(*found));
  }

  void failed(const Error& error) { m_code = std::max(m_code, report(m_session, error)); }

  void keep(std::vector<WheelReport> reports) {
    for (auto& one : reports) {
      if (!one.pass) m_code = std::max(m_code, 1);
      if (m_arguments.format == "text") {
        const Console& console = m_session.console;
        console.result(console.bold(one.path) + "\n" + judgement_text(console, one, m_arguments.all));
      }
      m_reports.push_back(std::move(one));
    }
  }

  const Session& m_session;
  const VerifyArguments& m_arguments;
  const VerifyOptions& m_options;
  std::vector<const Plugin*> m_plugins;
  std::vector<WheelReport> m_reports;
  int m_code = 0;
};

VerifyOptions make_options(const Session& session, const VerifyArguments& arguments) {
  VerifyOptions options;
  options.today = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::now()));
  options.require = arguments.require;
  options.child_environment = session.settings.child_environment;
  options.interpreters.assign(arguments.interpreters.begin(), arguments.interpreters.end());
  options.torches = session.fetched_torches();
  options.gpu = arguments.gpu;
  options.sha256_file = arguments.sha256_file;
  options.memory_bytes = arguments.memory_bytes;
  return options;
}

/// The results in the form that was asked for; text was printed wheel by wheel.
int show(const Session& session, const VerifyArguments& arguments, const Run& run, const Diagnostics& stale) {
  const Console& console = session.console;
  const auto& reports = run.reports();
  int code = run.code();
  for (const auto& one : stale) {
    if (one.severity == Severity::error) code = std::max(code, 1);
    if (one.severity != Severity::note || !console.quiet()) console.show(one);
  }
  if (arguments.format == "json") console.result(verify_json(reports, arguments.all, stale));
  if (arguments.format == "sarif") console.result(verify_sarif(reports));
  if (arguments.format == "github") console.result(verify_annotations(reports));
  // A log of GitHub Actions is read by GitHub itself: both streams of it.
  if (session.settings.github_actions && arguments.format != "github") {
    const auto annotations = verify_annotations(reports);
    if (arguments.format == "text")
      console.result(annotations);
    else
      fmt::print(stderr, "{}", annotations);
  }
  const bool trouble = std::ranges::any_of(reports, [](const WheelReport& one) { return !one.pass; });
  if (arguments.format == "text" && trouble) console.say("sagekit verify --explain CODE says what a code means");
  if (arguments.sarif_file.empty()) return code;
  std::ofstream file(arguments.sarif_file, std::ios::binary);
  file << verify_sarif(reports);
  file.close();
  if (file) return code;
  return std::max(code, report(session, Error{ErrorKind::usage, "FIL002", "cannot write " + arguments.sarif_file,
                                              arguments.sarif_file, "check rights and free space"}));
}

}  // namespace

int run_verb(Session& session, const VerifyArguments& given) {
  if (!given.explain.empty()) return explain(session, given.explain);
  VerifyArguments arguments = given;
  if (arguments.format.empty()) arguments.format = session.global.json ? "json" : "text";
  VerifyOptions options = make_options(session, arguments);
  if (!read_policy(session, arguments.policy, options)) return exit_code(ErrorKind::usage);
  auto loaded = session.plugins();
  if (!loaded) return report(session, loaded.error());
  std::vector<const Plugin*> plugins;
  for (const auto& plugin : loaded->plugins) plugins.push_back(&plugin);

  Run run(session, arguments, options, std::move(plugins));
  for (const auto& path : arguments.paths) run.path(path);
  for (const auto& name : arguments.installed)
    for (const auto& interpreter : arguments.interpreters) run.installed(name, interpreter);
  Diagnostics stale;
  if (options.policy_file && !run.reports().empty()) stale = stale_waivers(*options.policy_file, run.reports());
  return show(session, arguments, run, stale);
}

}  // namespace sagekit::host
