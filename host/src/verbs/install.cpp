#include "building_here.hpp"
#include "interrupt.hpp"
#include "render/companion_text.hpp"
#include "resolving.hpp"
#include "verb.hpp"

#include <sagekit/install.hpp>
#include <sagekit/shell_word.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <optional>

namespace sagekit::host {

namespace {

constexpr std::size_t k_most_downloads = 3;  // of wheels that only their file can judge

struct InstallArguments {
  ResolvingArguments resolving;
  bool or_build = false, dry_run = false, dockerfile = false, no_deps = false;
  std::string fallback, store, source;
  std::vector<std::string> vendored;
};

void declare(Flags& flags, InstallArguments& arguments) {
  declare_resolving(flags, arguments.resolving, true);
  declare_place(flags, arguments.resolving);
  flags.on("--or-build", arguments.or_build,
           "Where no wheel fits, build one for this machine's GPUs, torch and Python; on a terminal it is asked");
  flags.value("--source", "DIR|URL|ARCHIVE", arguments.source, "With --or-build: the source, as for build");
  flags.list("--vendored", "NAME=DIR", arguments.vendored, "With --or-build: a vendored tree, as for build");
  flags.on("-n,--dry-run", arguments.dry_run, "Print each command; download, install and build nothing");
  flags.on("--dockerfile", arguments.dockerfile,
           "Print RUN lines that install the chosen wheel by its hash; --for may name the image's machine");
  flags.value("--fallback", "REQUIREMENT", arguments.fallback,
              "With --dockerfile: what the image may have instead, only when its builder asks: sageattention==1.0.6");
  flags.on("--no-deps", arguments.no_deps, "Install the wheel alone, not what it requires");
  declare_store(flags, arguments.store);
  flags.reads("PIP_*, UV_*",
              "The index that the wheel's requirements come from, as the installer is configured for it");
}

/// Of --for what an install takes: the rest is asked of the Python that it installs into.
std::string device_words(std::string_view target) {
  std::string words;
  while (!target.empty()) {
    const auto piece = target.substr(0, target.find(','));
    target.remove_prefix(std::min(target.size(), piece.size() + 1));
    const auto key = piece.substr(std::min(piece.size(), piece.find_first_not_of(' ')));
    if (key.starts_with("gpu") || key.starts_with("driver")) words += (words.empty() ? "" : ",") + std::string(key);
  }
  return words;
}

/// A wheel that is here and fits.
struct Ready {
  Judged judged;
  std::filesystem::path file;
};

Error no_place() {
  return {ErrorKind::usage, "CLI001", "install needs to know where wheels are", "",
          "--from PLACE, or --plugin NAME --or-build to build one"};
}

class Installer {
 public:
  Installer(Session& session, const InstallArguments& arguments, std::stop_token stop)
      : m_session(session), m_arguments(arguments), m_stop(std::move(stop)) {}

  int run() {
    const auto prepared = prepare();
    if (!prepared) return report(m_session, prepared.error());
    if (m_arguments.dockerfile) return dockerfile();
    const auto place = find_install_place(m_target, m_options);
    if (!place) return report(m_session, place.error());
    m_place = *place;
    if (m_arguments.dry_run) return dry_run();
    auto ready = choose();
    if (!ready) return report(m_session, ready.error());
    if (!*ready) ready = build();
    if (!ready) return report(m_session, ready.error());
    return install(**ready);
  }

 private:
  Status prepare() {
    auto target = chosen_target(m_session, m_arguments.resolving);
    if (!target) return std::unexpected(target.error());
    m_target = std::move(*target);
    auto resolving = make_resolving(m_session, m_arguments.resolving);
    if (!resolving) return std::unexpected(resolving.error());
    m_resolving = std::move(*resolving);
    const auto store = m_session.store_to_write(m_arguments.store, "installs");
    if (!store) return std::unexpected(store.error());
    m_options.store = *store;
    m_options.path = m_session.settings.path;
    m_options.environment = m_session.settings.child_environment;
    m_options.environment.insert(m_session.settings.pip_environment.begin(), m_session.settings.pip_environment.end());
    // A GPU that was only named cannot be asked for numbers.
    m_options.gpu = m_target.gpus && !m_target.gpus->empty() && m_arguments.resolving.target.empty();
    m_resolving->options.store = *store;
    m_options.resolving = m_resolving->options;
    m_options.say = [this](const std::string& text) { m_session.console.say(text); };
    m_options.no_deps = m_arguments.no_deps;
    if (m_arguments.resolving.from.empty()) return {};
    auto found = resolve_wheels(m_session, m_arguments.resolving, m_target, *m_resolving, m_stop);
    if (!found) {
      // An empty place is one where nothing fits.
      auto error = found.error();
      if (error.kind == ErrorKind::no_match && m_arguments.or_build) return {};
      if (error.kind == ErrorKind::no_match && a_chosen_one_builds())
        error.hint += (error.hint.empty() ? "" : "; ") + std::string("--or-build builds one here");
      return std::unexpected(std::move(error));
    }
    m_resolution = std::move(*found);
    mind_companions(m_resolution->package);
    return {};
  }

  /// Has a plugin of --plugin a cell for the machine?
  bool a_chosen_one_builds() const {
    return std::ranges::any_of(m_options.resolving.plugins, [&](const Plugin* one) {
      return m_session.asks_for(*one) && profile_for(one->spec(), m_target);
    });
  }

  /// A companion that somebody built is not to be replaced by the index's.
  void mind_companions(const std::string& package) {
    for (const auto* plugin : m_options.resolving.plugins) {
      if (normalized_project(plugin->spec().metadata.name) != package || plugin->spec().companions.empty() ||
          m_options.no_deps)
        continue;
      if (!m_session.asks_for(*plugin)) continue;
      m_options.no_deps = true;
      m_companions = plugin->spec().companions;
      m_session.console.say(fmt::format("--no-deps: {} of the plugin {} may be one that was built for this machine",
                                        m_companions.front().name, plugin->name()));
      for (const auto& companion : m_companions) m_session.console.say(companion_text(m_session.console, companion));
    }
  }

  /// The best wheel that is known to fit, its file at hand and judged; nothing when there is none.
  Result<std::optional<Ready>> choose() {
    if (!m_resolution) return std::optional<Ready>();
    for (const auto& one : m_resolution->fits) {
      auto ready = fetch(one);
      if (!ready || *ready) return ready;
    }
    std::size_t downloads = 0;
    for (const auto& one : m_resolution->unknown) {
      if (!one.candidate.remote || downloads++ == k_most_downloads) continue;
      auto ready = fetch(one);
      if (!ready || *ready) return ready;
    }
    return std::optional<Ready>();
  }

  Result<std::optional<Ready>> fetch(const Judged& judged) {
    if (judged.candidate.remote && judged.candidate.sha256.empty() && judged.candidate.other_hash.empty())
      m_session.console.warn(
          fmt::format("{} comes without a hash: nothing shows that it is the file that was published",
                      judged.candidate.place),
          "add #sha256=... to its address where its maker says one");
    const auto file = fetch_wheel(judged.candidate, m_options, m_stop);
    if (!file) return std::unexpected(file.error());
    if (!judged.candidate.remote) return std::optional(Ready{judged, *file});
    Candidate here = judged.candidate;
    here.remote = false;
    here.address = here.place = file->string();
    auto resolution = resolve({here}, m_target, m_options.resolving, *m_session.runner, m_stop);
    if (!resolution) return std::unexpected(resolution.error());
    if (!resolution->fits.empty()) return std::optional(Ready{resolution->fits.front(), *file});
    const auto& why = resolution->refused.empty() ? resolution->unknown.front() : resolution->refused.front();
    m_session.console.warn(fmt::format("{} was downloaded, and does not fit: {}", here.file, why.reason));
    return std::optional<Ready>();
  }

  HereOptions here() const { return {m_options.store, m_arguments.source, m_arguments.vendored}; }

  bool asked_to_build() const {
    if (m_arguments.or_build) return true;
    if (m_session.global.json || m_session.global.plugins.empty() || isatty(STDIN_FILENO) == 0 ||
        isatty(STDERR_FILENO) == 0)
      return false;
    std::fprintf(stderr, "No wheel fits. Build one here, for %s? [y/N] ", target_text(m_target).c_str());
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
  }

  Result<std::optional<Ready>> build() {
    if (m_resolution) m_session.console.say(resolution_text(m_session.console, *m_resolution, false));
    if (!asked_to_build()) {
      if (!m_resolution) return std::unexpected(no_place());
      document_none();
      return std::unexpected(none_fits());
    }
    const auto folder = build_here(m_session, m_target, here());
    if (!folder) return std::unexpected(folder.error());
    auto wheels = find_wheels(folder->string(), m_options.resolving, m_stop);
    if (!wheels) return std::unexpected(wheels.error());
    auto options = m_options.resolving;
    auto resolution = resolve(std::move(*wheels), m_target, options, *m_session.runner, m_stop);
    if (!resolution) return std::unexpected(resolution.error());
    mind_companions(resolution->package);
    if (resolution->fits.empty()) {
      m_session.console.say(resolution_text(m_session.console, *resolution, true));
      return fail(ErrorKind::failed, "RES008", "the wheel that was built here is not known to fit this machine",
                  "the reason is above; sagekit resolve --from " + shell_word(folder->string()));
    }
    return std::optional(Ready{resolution->fits.front(), resolution->fits.front().candidate.address});
  }

  int install(const Ready& ready) {
    m_session.console.say(fmt::format("installing {} ({})", ready.judged.candidate.file, ready.judged.reason));
    const auto done = install_wheel(ready.file, ready.judged.sha256, m_place, m_options, *m_session.runner, m_stop);
    if (!done) return report(m_session, done.error());
    if (m_session.global.json) {
      m_session.console.document(install_json(*done));
      return 0;
    }
    const auto passed = std::ranges::count_if(done->report.findings, [](const Finding& finding) {
      return finding.code.starts_with("RUN1") && finding.result == FindingResult::pass;
    });
    m_session.console.result(fmt::format("{} {} is installed in {} ({}){}\n", done->package, done->version,
                                         done->place.prefix.string(), done->place.tool,
                                         done->replaced.empty() ? "" : ", in place of " + done->replaced));
    if (!done->added.empty())
      m_session.console.result(fmt::format("  with it came {}\n", fmt::join(done->added, ", ")));
    if (!done->changed.empty())
      m_session.console.result(fmt::format("  changed: {}\n", fmt::join(done->changed, ", ")));
    m_session.console.result(
        done->untried.empty()
            ? fmt::format("  every module imports{}\n",
                          m_options.gpu && passed > 0 ? ", and its numbers on this GPU are right" : "")
            : "");
    for (const auto& one : done->untried) m_session.console.result(fmt::format("  not tried: {}\n", one));
    return 0;
  }

  /// Is one of these codes a reason why a wheel was not taken?
  bool stands_in_the_way(std::initializer_list<std::string_view> codes) const {
    const auto is_one = [&](const Judged& one) { return std::ranges::find(codes, one.code) != codes.end(); };
    return m_resolution &&
           (std::ranges::any_of(m_resolution->refused, is_one) || std::ranges::any_of(m_resolution->unknown, is_one));
  }

  /// A flag of this command, to be given again: " --interpreter .venv"; "" = it was not given.
  static std::string said_word(std::string_view flag, const std::string& word) {
    return word.empty() ? "" : fmt::format(" {} {}", flag, shell_word(word));
  }

  /// What mends what stood in the way.
  std::string way_out() const {
    // A machine whose GPU is not seen (where an image is built, on a login node) can still be told which one it is for.
    const bool no_gpu = m_target.gpus && m_target.gpus->empty();
    if (no_gpu && stands_in_the_way({"RES107"})) return std::string(k_name_gpu);
    // Of what holds no GPU code nothing that is known here speaks for one wheel or another.
    if (m_resolution && !m_resolution->unknown.empty() && !m_place.installer.empty() &&
        m_resolution->unknown.front().code == "RES207" &&
        std::ranges::none_of(m_resolution->unknown, &Judged::gpu_code))
      return "it holds no GPU code, so that there is nothing to choose: " +
             shell_line(install_line(m_place, m_resolution->unknown.front().candidate.place));
    const auto whole = [](const Judged& one) { return one.code != "RES113" && one.code != "RES114"; };
    if (m_resolution && m_resolution->unknown.empty() && std::ranges::none_of(m_resolution->refused, whole))
      return "get it once more from where it is published, under the name that it has there";
    std::string text = fmt::format("wanted is one for {}", target_text(m_target)), why_not;
    for (const auto* plugin : m_options.resolving.plugins) {
      if (!m_resolution || normalized_project(plugin->spec().metadata.name) != m_resolution->package) continue;
      if (lacks_torch(plugin->spec(), m_target)) return fmt::format("{}; {}", text, k_torch_first);
      const auto profile = profile_for(plugin->spec(), m_target);
      if (profile)
        return fmt::format("{}; sagekit --plugin {} install --or-build{}{} builds it", text, plugin->name(),
                           said_word("--interpreter", m_arguments.resolving.interpreter),
                           no_gpu ? fmt::format(" {}", k_for_gpu) : said_word("--for", m_arguments.resolving.target));
      if (why_not.empty()) why_not = fmt::format("; {}: {}", profile.error().message, profile.error().hint);
    }
    return text + why_not;
  }

  Error none_fits() const {
    const auto& from = m_arguments.resolving.from;
    return {ErrorKind::no_match, "RES007",
            from.ends_with(".whl") ? fmt::format("{} is not known to fit this machine", printable_url(from))
                                   : fmt::format("no wheel of {} is known to fit this machine", printable_url(from)),
            "", way_out()};
  }

  void document_none() {
    if (m_session.global.json && m_resolution) m_session.console.document(install_none_json(*m_resolution));
  }

  int nothing_fits() {
    m_session.console.say(m_resolution ? resolution_text(m_session.console, *m_resolution, false) : "");
    document_none();
    return report(m_session, none_fits());
  }

  int dockerfile() {
    if (!m_resolution || m_resolution->fits.empty()) return nothing_fits();
    // Companions first: the wheel then comes without what it requires.
    for (const auto& companion : m_companions)
      if (!companion.requires_dist.empty())
        m_session.console.document(fmt::format("RUN python3 -m pip install --no-cache-dir --no-deps {}\n",
                                               shell_word(companion.requires_dist)));
    m_session.console.document(dockerfile_lines(m_resolution->fits.front(), m_arguments.fallback, m_options.no_deps));
    return 0;
  }

  /// What follows the build, with what this install was told.
  std::vector<std::string> install_built(const std::filesystem::path& folder) const {
    std::vector<std::string> words = {"sagekit", "install", "--from", folder.string()};
    for (const auto& [flag, value] : {std::pair("--interpreter", m_arguments.resolving.interpreter),
                                      std::pair("--for", device_words(m_arguments.resolving.target))})
      if (!value.empty()) words.insert(words.end(), {flag, value});
    return words;
  }

  int dry_run() {
    std::vector<std::vector<std::string>> commands;
    if (m_resolution && !m_resolution->fits.empty()) {
      commands = install_commands(m_place, m_resolution->fits.front(), m_options);
    } else if (m_arguments.or_build) {
      auto build = build_command(m_session, m_target, here());
      if (!build) return report(m_session, build.error());
      commands = {std::move(build->words), install_built(build->folder)};
    } else {
      return nothing_fits();
    }
    if (m_session.global.json) {
      m_session.console.document(install_commands_json(commands));
      return 0;
    }
    for (const auto& command : commands) m_session.console.result(shell_line(command) + "\n");
    return 0;
  }

  Session& m_session;
  const InstallArguments& m_arguments;
  std::stop_token m_stop;
  Target m_target;
  std::unique_ptr<Resolving> m_resolving;
  InstallOptions m_options;
  InstallPlace m_place;
  std::optional<Resolution> m_resolution;
  std::vector<Companion> m_companions;
};

int run(Session& session, const InstallArguments& given) {
  InstallArguments arguments = given;
  if (const auto one = take_place(arguments.resolving); !one) return report(session, one.error());
  if (session.global.json && arguments.dockerfile)
    return report(session, {ErrorKind::usage, "CLI001", "--json and --dockerfile both want stdout", "", "choose one"});
  const bool prints = arguments.dockerfile || arguments.dry_run;
  if (!arguments.resolving.target.empty() && !prints) {
    // Where images are built no GPU shows itself; what the Python is and has is there to be asked.
    const auto said = parse_target(arguments.resolving.target, {});
    if (!said) return report(session, said.error());
    if (!said->python.empty() || said->has_torch || !said->platform.empty())
      return report(
          session,
          {ErrorKind::usage, "CLI001", "install installs into this machine: its --for takes gpu and driver only", "",
           "--dockerfile or --dry-run print what would be done elsewhere; resolve answers for any machine"});
  }
  if (arguments.resolving.from.empty() && !arguments.or_build && (prints || session.global.plugins.empty()))
    return report(session, no_place());
  if (!arguments.fallback.empty() && !arguments.dockerfile)
    return report(session, {ErrorKind::usage, "CLI001", "--fallback is for --dockerfile", "",
                            "nothing is installed here in place of what was asked for"});
  return Installer(session, arguments, stop_on_signals()).run();
}

}  // namespace

std::vector<Verb> install_verbs() {
  return {make_verb<InstallArguments>(
      {.name = "install",
       .what = "Install the wheel that fits into an environment, try it, and undo it when it does not work",
       .examples =
           {"sagekit install their.whl", "sagekit install --from dist",
            "sagekit install --from https://example.org/simple --package sageattention --interpreter .venv/bin/python",
            "sagekit --plugin sage2 install --or-build", "sagekit install --from dist --dry-run",
            "sagekit install --from dist --dockerfile --fallback sageattention==1.0.6"},
       .exits = {{0, "it is installed, and imports"},
                 {1,
                  "the download, the installer, the import or the numeric gate failed; what was there before is back"},
                 {3, "the environment cannot be installed into: read-only, managed by another packager, no installer"},
                 {4, "no wheel is known to fit"}}},
      declare, run)};
}

}  // namespace sagekit::host
