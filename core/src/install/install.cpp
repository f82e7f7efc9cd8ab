#include "archive/wheel_archive.hpp"
#include "causes/in_words.hpp"
#include "inspect/name_of_file.hpp"
#include "install/installed_packages.hpp"
#include "install/keepsake.hpp"
#include "install/place_lock.hpp"
#include "install/trial.hpp"
#include "pypa/metadata_reader.hpp"
#include "pypa/requirement_reader.hpp"
#include "pypa/version_order.hpp"
#include "resolve/marker.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/install.hpp>
#include <sagekit/shell_word.hpp>

#include <algorithm>
#include <iterator>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

/// What the installer is told besides the wheel.
struct WheelTexts {
  WheelName name;
  std::string metadata;
  std::vector<std::string> files;  ///< members below site-packages
};

Result<WheelTexts> read_texts(const fs::path& file) {
  WheelTexts texts;
  TRY_ASSIGN(texts.name, name_of_file(file));
  TRY_ASSIGN(const auto archive, WheelArchive::open(file));
  for (const auto& member : archive.members()) {
    if (member.is_folder()) continue;
    texts.files.push_back(member.name);
    if (member.name.ends_with(".dist-info/METADATA") && count_of(member.name, "/") == 1) {
      TRY_ASSIGN(texts.metadata, archive.read(member));
    }
  }
  return texts;
}

/// Of the wheel's requirements those that the environment does not meet yet.
struct MissingRequirements {
  std::vector<std::string> lines;  ///< as written: a marker of which nothing is known here is the installer's to judge
  std::vector<std::string> replaced;  ///< installed, in a version that is not allowed
};

MissingRequirements missing_requirements(const std::vector<std::string>& requires_dist, const InstallPlace& place) {
  MissingRequirements missing;
  for (const auto& line : requires_dist) {
    const auto read = read_requirement(line);
    if (!read || marker_holds(line, place.machine) == std::optional(false)) continue;
    const std::string name = normalized_project(read->name);
    const auto there = place.packages.find(name);
    if (there != place.packages.end()) {
      if (specifiers_allow(read->specifiers, there->second).value_or(true)) continue;
      missing.replaced.push_back(name);
    }
    missing.lines.push_back(line);
  }
  return missing;
}

/// Whatever else is installed stays at its version: an installer that would have to change it says so and ends.
std::string constraints(const InstallPlace& place, const std::string& package,
                        const std::vector<std::string>& replaced) {
  std::string text;
  for (const auto& [name, version] : place.packages)
    if (name != package && !contains(replaced, name) && PythonRelease::parse(version))
      text += fmt::format("{}=={}\n", name, version);
  // What is there and stays goes on working: a torch pins the one triton that it compiles with, be it there or not yet.
  // Installers do not ask what is installed and not named to them.
  for (const auto& [name, one] : read_installed_packages(place.folders)) {
    if (name == package || contains(replaced, name)) continue;
    for (const auto& line : requirements_of(one)) {
      const auto read = read_requirement(line);
      if (!read || read->specifiers.empty() || marker_holds(line, place.machine) != std::optional(true)) continue;
      const std::string other = normalized_project(read->name);
      const auto there = place.packages.find(other);
      const bool stays = there != place.packages.end() && !contains(replaced, other);
      const bool broken_now =
          there != place.packages.end() && specifiers_allow(read->specifiers, there->second) != std::optional(true);
      if (other != package && !stays && !broken_now) text += fmt::format("{}{}\n", other, read->specifiers);
    }
  }
  return text;
}

std::vector<std::string> install_argv(const InstallPlace& place, const std::vector<std::string>& words) {
  auto argv = place.installer;
  argv.emplace_back("install");
  if (place.tool == "uv")
    argv.insert(argv.end(), {"--python", place.interpreter.string()});
  else
    argv.insert(argv.end(), {"--no-input", "--disable-pip-version-check"});
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

/// What the wheel requires and is missing, with everything that is there held to its version.
std::vector<std::string> requirements_argv(const InstallPlace& place, const std::string& constraints,
                                           const std::vector<std::string>& lines) {
  std::vector<std::string> words = {"--constraint", constraints};
  words.insert(words.end(), lines.begin(), lines.end());
  return install_argv(place, words);
}

/// `what`: a file, or words that name files.
std::vector<std::string> wheel_argv(const InstallPlace& place, const std::vector<std::string>& what) {
  std::vector<std::string> words = {"--no-deps", "--no-index",
                                    place.tool == "uv" ? "--reinstall" : "--force-reinstall"};
  words.insert(words.end(), what.begin(), what.end());
  return install_argv(place, words);
}

std::string file_url(const fs::path& file) {
  std::string url = "file://";
  for (const char c : fs::absolute(file).lexically_normal().string()) {
    const bool plain = is_letter_or_digit(c) || std::string_view("/-._~").find(c) != std::string_view::npos;
    url += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return url;
}

/// `by_hand`: the same for people, with files that stay.
Status run_installer(const InstallPlace& place, const std::vector<std::string>& argv,
                     const std::vector<std::string>& by_hand, const std::map<std::string, std::string>& environment,
                     CommandRunner& runner, std::stop_token stop) {
  Command command;
  command.argv = argv;
  command.environment = environment;
  const auto result = runner.run(command, std::move(stop));
  if (!result) return std::unexpected(result.error());
  if (result->ok()) return {};
  // Installers say what is wrong in the last lines that begin with ERROR, or in the last one.
  std::string why;
  for (const auto& line : split(result->output, '\n'))
    if (const auto text = trim(line); text.starts_with("ERROR:") || text.starts_with("error:") || text.starts_with("×"))
      why = text;
  if (why.empty()) {
    const auto lines = split(trim(result->output), '\n');
    why = trim(lines.back());
  }
  const auto cause = first_cause_in_words(result->output, facts_of(place.machine));
  return fail(
      ErrorKind::failed, "IST007",
      fmt::format("the environment's installer refused it: {}",
                  why.empty() ? fmt::format("exit code {}", result->exit_code) : why),
      fmt::format("{}{}run it by hand to see all of it: {}", cause, cause.empty() ? "" : "; ", shell_line(by_hand)));
}

/// Everything from the installer's start to the trial's end; an error means: put it back.
class Installing {
 public:
  Installing(const fs::path& file, const InstallPlace& place, const InstallOptions& options, CommandRunner& runner,
             std::stop_token stop)
      : m_file(file), m_place(place), m_options(options), m_runner(runner), m_stop(std::move(stop)) {}

  Result<Installed> run(const WheelTexts& texts, const MissingRequirements& missing, const std::string& sha256,
                        const fs::path& folder) {
    Installed done;
    done.place = m_place;
    done.package = normalized_project(texts.name.distribution);
    done.version = texts.name.version;
    done.sha256 = sha256;
    done.wheel = m_file;
    if (const auto there = m_place.packages.find(done.package); there != m_place.packages.end())
      done.replaced = there->second;
    if (!m_options.no_deps && !missing.lines.empty()) {
      // Beside the folder, which goes when things are put back: whoever tries by hand what was refused needs it.
      auto file = folder;
      file += ".constraints.txt";
      TRY(write_file(file, constraints(m_place, done.package, missing.replaced)));
      const auto argv = requirements_argv(m_place, file.string(), missing.lines);
      TRY(run_installer(m_place, argv, argv, m_options.environment, m_runner, m_stop));
      remove_quietly(file);
    }
    const auto requirements = folder / "wheel.txt";
    TRY(write_file(requirements,
                   fmt::format("{} @ {} --hash=sha256:{}\n", texts.name.distribution, file_url(m_file), sha256)));
    // The file is at hand and nothing is asked of an index. pip would start lsb_release, uname and rustc all the same,
    // to tell one what machine this is: a fifteenth of its time.
    auto environment = m_options.environment;
    environment["PATH"] = m_place.interpreter.parent_path().string();
    TRY(run_installer(m_place, wheel_argv(m_place, {"--require-hashes", "-r", requirements.string()}),
                      wheel_argv(m_place, {m_file.string()}), environment, m_runner, m_stop));
    TRY(compare(done));
    TRY(try_installed(done, m_options, m_runner, m_stop));
    return done;
  }

 private:
  Status compare(Installed& done) const {
    const auto now = installed_versions(m_place.folders);
    if (!now.contains(done.package))
      return fail(ErrorKind::failed, "IST007",
                  fmt::format("the environment's installer ended well, and {} is not installed", done.package));
    for (const auto& [name, version] : now) {
      if (name == done.package) continue;
      const auto was = m_place.packages.find(name);
      if (was == m_place.packages.end())
        done.added.push_back(name + " " + version);
      else if (was->second != version)
        done.changed.push_back(fmt::format("{} {} (was {})", name, version, was->second));
    }
    return {};
  }

  const fs::path& m_file;
  const InstallPlace& m_place;
  const InstallOptions& m_options;
  CommandRunner& m_runner;
  std::stop_token m_stop;
};

Status put_back_left(const fs::path& folder, const InstallPlace& place, const InstallOptions& options,
                     CommandRunner& runner) {
  TRY_ASSIGN(auto left, Keepsake::left_by_another(folder));
  if (!left) return {};
  if (options.say) options.say("an install here was cut before its end: putting back what was there");
  return left->put_back(place, options, runner);
}

}  // namespace

std::vector<std::string> install_line(const InstallPlace& place, const std::string& wheel) {
  return install_argv(place, {wheel});
}

std::vector<std::vector<std::string>> install_commands(const InstallPlace& place, const Judged& wheel,
                                                       const InstallOptions& options) {
  std::vector<std::vector<std::string>> commands;
  std::string file = wheel.candidate.address;
  if (wheel.candidate.remote) {
    file = wheel.candidate.file;
    commands.push_back({"curl", "--location", "--fail", "--output", file, wheel.candidate.place});
    const auto held = wheel.candidate.sha256.empty() ? wheel.candidate.other_hash : "sha256=" + wheel.candidate.sha256;
    if (const auto equals = held.find('='); equals != held.npos)
      commands.push_back(
          {"sh", "-c",
           fmt::format("echo '{}  {}' | {}sum --check", held.substr(equals + 1), file, held.substr(0, equals))});
  }
  const auto name = parse_wheel_name(wheel.candidate.file);
  // Of what nobody has read the installer itself sees what it requires.
  const auto missing = wheel.requires_dist ? missing_requirements(*wheel.requires_dist, place)
                                           : MissingRequirements{.lines = {file}, .replaced = {}};
  if (!options.no_deps && !missing.lines.empty()) {
    const std::string package = normalized_project(name ? name->distribution : "");
    const std::string held = package + ".constraints.txt";
    std::vector<std::string> print = {"printf", "%s\\n"};
    std::ranges::copy(split(trim(constraints(place, package, missing.replaced)), '\n'), std::back_inserter(print));
    commands.push_back({"sh", "-c", fmt::format("{} > {}", shell_line(print), held)});
    commands.push_back(requirements_argv(place, held, missing.lines));
  }
  commands.push_back(wheel_argv(place, {file}));
  std::vector<std::string> verify = {
      "sagekit", "verify", "--installed", name ? name->distribution : "", "--interpreter", place.interpreter.string()};
  if (options.gpu) verify.emplace_back("--gpu");
  commands.push_back(std::move(verify));
  return commands;
}

Result<Installed> install_wheel(const fs::path& file, const std::string& judged, const InstallPlace& given,
                                const InstallOptions& options, CommandRunner& runner, std::stop_token stop) {
  TRY_ASSIGN(const PlaceLock lock, PlaceLock::acquire(given.site));
  const auto folder = keepsake_folder(options.store, given.prefix);
  TRY(put_back_left(folder, given, options, runner));
  // What is there is asked under the lock: another install may just have ended.
  InstallPlace place = given;
  place.packages = installed_versions(place.folders);

  TRY_ASSIGN(const WheelTexts texts, read_texts(file));
  std::string sha256 = judged;
  if (sha256.empty()) {
    TRY_ASSIGN(sha256, sha256_file(file));
  }
  const std::string package = normalized_project(texts.name.distribution);
  const auto missing = missing_requirements(read_headers(texts.metadata).all("Requires-Dist"), place);
  std::vector<std::string> names = missing.replaced;
  names.push_back(package);
  std::vector<InstalledPackage> packages;
  for (auto& [name, one] : read_installed_packages(place.folders))
    if (contains(names, name)) packages.push_back(one);
  TRY_ASSIGN(auto keepsake, Keepsake::make(folder, place, package, texts.files, packages));

  auto done = Installing(file, place, options, runner, stop).run(texts, missing, sha256, folder);
  if (done) {
    keepsake.forget();
    return done;
  }
  Error error = done.error();
  TRY(keepsake.put_back(place, options, runner));
  const auto was = place.packages.find(package);
  error.message +=
      was == place.packages.end() ? "; it was taken out again" : fmt::format("; {} {} is back", package, was->second);
  return std::unexpected(std::move(error));
}

}  // namespace sagekit
