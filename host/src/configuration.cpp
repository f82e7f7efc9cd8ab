#include "configuration.hpp"

#include "output_file.hpp"

#include <sagekit/config.hpp>
#include <sagekit/naming.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace sagekit::host {

namespace {

namespace fs = std::filesystem;

/// The verbs whose flags the keys are named after, and those that want the naming schemes alone.
constexpr std::array<std::string_view, 6> k_verbs{"plan", "build", "doctor", "verify", "generate", "coverage"};
constexpr std::array<std::string_view, 10> k_naming_verbs{
    "name",  "retag",   "package", "resolve",        "install",
    "index", "release", "report",  "publish github", "publish huggingface"};

bool is_one_of(std::string_view verb, std::span<const std::string_view> verbs) {
  return std::ranges::find(verbs, verb) != verbs.end();
}

/// "" = there is none.
Result<fs::path> config_file(const Session& session) {
  std::error_code error;
  const auto folder = fs::current_path(error);
  if (session.global.config.empty()) return error ? fs::path() : find_config(folder);
  return folder / session.global.config;
}

/// Does the environment say it already?
bool in_environment(const Settings& settings, const std::string& key) {
  return (key == "arch" && !settings.arch_list.empty()) || (key == "store" && settings.store_is_named) ||
         (key == "jobs" && !settings.max_jobs.empty());
}

/// What no flag and no variable says already.
std::vector<CellOverride> overrides_left(const Session& session, std::vector<CellOverride> overrides) {
  const auto said = [&](const char* key) {
    return session.global.given.contains(std::string("--") + key) || in_environment(session.settings, key);
  };
  for (auto& one : overrides) {
    if (said("arch")) one.arch = {};
    if (said("naming")) one.naming = {};
  }
  return overrides;
}

/// verify takes every plugin there is, and its budget is another thing: one wheel's members, not all steps of a build.
bool is_for(const std::string& key, const Verb& verb) {
  if (key == "memory") return verb.text.name == "build";
  // Its folder is of other files, its store another machine's.
  if (verb.text.name == "generate") return key != "output" && key != "store";
  return key != "plugin" || verb.text.name != "verify";
}

/// A row that names nothing is found here, with its place, and not by the first name that is read.
bool take_schemes(Session& session, const Config& config, std::string& used) {
  for (const auto& row : config.schemes) {
    const bool taken =
        std::ranges::find(builtin_schemes(), row.scheme.name, &NamingScheme::name) != builtin_schemes().end();
    const auto readable = WheelNameReader::make({&row.scheme, 1});
    if (taken || !readable) {
      session.console.show(Diagnostic{Severity::error, "CFG006",
                                      taken ? fmt::format("scheme: \"{}\" is a built-in scheme", row.scheme.name)
                                            : fmt::format("scheme: {}", readable.error().message),
                                      row.where, taken ? "choose another name" : readable.error().hint});
      return false;
    }
    session.schemes.push_back(row.scheme);
  }
  if (!session.schemes.empty()) used = "scheme";
  return true;
}

}  // namespace

bool configure(Session& session, const Verb& verb) {
  const bool takes_flags = is_one_of(verb.text.name, k_verbs);
  if (!takes_flags && !is_one_of(verb.text.name, k_naming_verbs)) {
    if (session.global.config.empty()) return true;
    session.console.show({ErrorKind::usage, "CLI001", fmt::format("{} reads no sagekit.toml", verb.text.name), "",
                          "leave --config out: it is for plan, build, generate, coverage, doctor, verify and the verbs "
                          "that read or write wheels' names"});
    return false;
  }
  const auto path = config_file(session);
  if (!path) return session.console.show(path.error()), false;
  if (path->empty()) return true;
  const auto text = file_text(*path);
  if (!text)
    return session.console.show(read_error(*path, "CFG007", "--config takes a file; --config /dev/null reads none")),
           false;
  auto config = parse_config(*text, path->string());
  if (!config) {
    for (const auto& diagnostic : config.error()) session.console.show(diagnostic);
    return false;
  }

  std::string used;
  if (!take_schemes(session, *config, used)) return false;
  Flags flags;
  declare_globals(flags, session.global);
  verb.declare(flags);
  for (const auto& value : config->values) {
    if (!takes_flags) break;
    const auto name = "--" + value.key;
    if (session.global.given.contains(name) || in_environment(session.settings, value.key)) continue;
    if (value.key == "store") session.settings.store = value.words.front();
    const auto flag = std::ranges::find(flags.flags(), name, &Flag::long_name);
    if (!is_for(value.key, verb) || (flag == flags.flags().end() && value.key != "store")) continue;
    used += (used.empty() ? "" : ", ") + value.key;
    if (flag == flags.flags().end()) continue;
    session.configured.emplace(name, value.where);
    for (const auto& word : value.words)
      if (const auto taken = flag->take(word); !taken) {
        session.console.show(Diagnostic{Severity::error, "CFG006",
                                        fmt::format("{}: {}", value.key, taken.error().message), value.where,
                                        taken.error().hint});
        return false;
      }
  }
  if (!config->overrides.empty() && takes_flags && verb.text.name != "verify") {
    session.overrides = overrides_left(session, std::move(config->overrides));
    used += used.empty() ? "overrides" : ", overrides";
  }
  if (!used.empty()) session.console.say(session.console.dim(fmt::format("from {}: {}", path->string(), used)));
  return true;
}

}  // namespace sagekit::host
