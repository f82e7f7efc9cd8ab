#include "command_line.hpp"

#include "help.hpp"

#include <sagekit/nearest.hpp>
#include <sagekit/shell_word.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <list>
#include <map>
#include <string_view>
#include <utility>

namespace sagekit::host {

namespace {

/// A flag and the words that stood on the command line for it.
struct Given {
  const Flag* flag;
  std::vector<std::string> words = {};
  int times = 0;
};

class Parser {
 public:
  Parser() : m_app("", "sagekit") { prepare(m_app); }

  CLI::App& app() { return m_app; }

  CLI::App* add_verb(CLI::App& parent, const std::string& word) {
    CLI::App* verb = parent.add_subcommand(word);
    prepare(*verb);
    verb->fallthrough();
    return verb;
  }

  /// The words are taken in as they stand; what they mean is the flags' business.
  void add_flags(CLI::App& app, const Flags& flags) {
    for (const auto& flag : flags.flags()) {
      Given& given = m_given.emplace_back(Given{&flag});
      if (flag.type.empty()) {
        app.add_flag(flag.names, given.times);
        continue;
      }
      if (flag.bare)
        app.add_option(flag.names, given.words)->expected(0, 1)->allow_extra_args(false);
      else if (!flag.positional())
        app.add_option(flag.names, given.words)->allow_extra_args(false);
      else if (flag.repeatable)
        app.add_option(flag.names, given.words)->expected(-1);
      else
        app.add_option_function<std::string>(flag.names, [&given](const std::string& word) { given.words = {word}; });
    }
  }

  const std::list<Given>& given() const { return m_given; }

 private:
  static void prepare(CLI::App& app) {
    app.set_help_flag();
    app.require_subcommand(0, 1);
    app.allow_extras();  // what is left over is named by us
  }

  CLI::App m_app;
  std::list<Given> m_given;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

Error in_flag(const Flag& flag, const std::string& message, const std::string& hint) {
  return {ErrorKind::usage, "CLI001", fmt::format("{}: {}", flag.long_name(), message), "", hint};
}

Error unknown_choice(const Flag& flag, const std::string& value);

Status take(const Given& given) {
  const Flag& flag = *given.flag;
  for (int i = 0; i < given.times; ++i)
    if (auto taken = flag.take(""); !taken) return taken;
  if (given.words.size() > 1 && !flag.repeatable)
    return std::unexpected(in_flag(
        flag, fmt::format("given {} times: {}", given.words.size(), fmt::join(given.words, ", ")), "give it once"));
  for (const auto& word : given.words) {
    if (flag.bare && word.empty()) {
      if (auto taken = flag.take(""); !taken) return taken;
      continue;
    }
    for (const auto& value : flag.commas ? split(word) : std::vector{word}) {
      // What a script meant to fill in and did not is no wish for the default.
      if (value.find_first_not_of(" \t;") == std::string::npos)
        return std::unexpected(in_flag(flag, fmt::format("\"{}\" is empty", word),
                                       flag.positional() ? "name it" : "leave the flag out for the default"));
      if (flag.type == "DIR" && value == "-" && !flag.may_be_stdout)
        return std::unexpected(in_flag(flag, "a folder is wanted, and - is stdout", "a folder of that name is ./-"));
      if (!flag.choices.empty() && std::ranges::find(flag.choices, value) == flag.choices.end())
        return std::unexpected(unknown_choice(flag, value));
      auto taken = flag.take(value);
      if (taken) continue;
      taken.error().message = fmt::format("{}: {}", flag.long_name(), taken.error().message);
      return taken;
    }
  }
  return {};
}

/// The words that may stand behind a prefix: "plan", "build" of ""; "github", "index" of "publish ".
std::vector<std::string> verbs_behind(const std::vector<Verb>& verbs, const std::string& prefix) {
  std::vector<std::string> words;
  for (const auto& verb : verbs)
    if (verb.text.name.starts_with(prefix) && !verb.text.hidden) {
      const auto word = verb.text.name.substr(prefix.size());
      words.push_back(word.substr(0, word.find(' ')));
    }
  return words;
}

/// What pip, uv, docker and their like call something, and what it is called here.
constexpr std::pair<std::string_view, std::string_view> k_elsewhere[] = {
    {"--python", "--interpreter"}, {"--keep", "--older-than"},
    {"--size", "--max-size"},      {"--out", "--output"},
    {"--outdir", "--output"},      {"--wheel-dir", "--output"},
    {"--dir", "--output"},         {"--sm", "--arch"},
    {"--gpu", "--arch"},           {"--gpu", "--for"},
    {"--index", "--index-url"},    {"--parallel", "--jobs"},
    {"--max-jobs", "--jobs"},      {"--simulate", "--dry-run"},
    {"--debug", "--verbose"},      {"--silent", "--quiet"},
    {"check", "verify"},           {"lint", "verify"},
    {"list", "plugin list"},       {"audit", "verify"},
    {"show", "inspect"},           {"info", "inspect"},
    {"compile", "build"},          {"make", "build"},
    {"compare", "diff"},           {"find", "resolve"},
    {"which", "resolve"},          {"upload", "publish"},
    {"rename", "retag"},           {"clean", "cache trim"},
    {"gc", "cache trim"},          {"serve", "index --serve"},
    {"diagnose", "doctor"},        {"version", "--version"},
    {"--engine", "--in"},          {"docker", "--in docker"},
    {"--docker", "--in docker"},   {"podman", "--in podman"},
    {"--podman", "--in podman"},   {"slurm", "--in slurm"},
    {"--slurm", "--in slurm"},     {"--url", "--repository-url"},
    {"--url", "--base-url"},       {"--url", "--index-url"},
};
/// The same of words that a flag or argument takes: kinds of `generate`, engines.
constexpr std::pair<std::string_view, std::string_view> k_choices_elsewhere[] = {
    {"docker", "dockerfile"}, {"podman", "dockerfile"}, {"container", "dockerfile"},  {"container", "docker"},
    {"docker-bake", "bake"},  {"buildx", "bake"},       {"github-actions", "github"}, {"workflow", "github"},
    {"gha", "github"},        {"actions", "github"},    {"requirements", "consumer"}, {"playbook", "ansible"},
    {"sbatch", "slurm"},      {"ci", "github"},
};

/// The word that was meant, of those that could have stood there; "" when none is near.
std::string meant_word(const std::string& typed, const std::vector<std::string>& known) {
  const bool flag = typed.starts_with('-');
  const auto bare = [](std::string_view word) {
    return std::string(word.substr(std::min(word.find_first_not_of('-'), word.size())));
  };
  std::map<std::string, std::string> meant;  // without dashes, which say nothing about being near
  for (const auto& word : known)
    if (word.starts_with('-') == flag) meant.emplace(bare(word), word);
  for (const auto& [other, ours] : k_elsewhere)
    if (other.starts_with('-') == flag && std::ranges::find(known, ours.substr(0, ours.find(' '))) != known.end())
      meant.emplace(bare(other), ours);
  std::vector<std::string> words;
  for (const auto& [word, ours] : meant) words.push_back(word);
  const auto near = nearest_word(bare(typed), words);
  return near.empty() ? "" : meant[near];
}

Error unknown_choice(const Flag& flag, const std::string& value) {
  auto meant = nearest_word(value, flag.choices);
  for (const auto& [other, ours] : k_choices_elsewhere)
    if (meant.empty() && other == value && std::ranges::find(flag.choices, ours) != flag.choices.end()) meant = ours;
  return in_flag(flag, fmt::format("\"{}\" is none of {}", value, fmt::join(flag.choices, ", ")),
                 meant.empty() ? "choose one of them" : fmt::format("did you mean \"{}\"?", meant));
}

/// The words that could have stood there.
std::vector<std::string> known_words(const std::vector<Verb>& verbs, const std::string& prefix, const Parser& parser) {
  std::vector<std::string> words = verbs_behind(verbs, prefix);
  for (const auto& given : parser.given())
    for (const auto& name : split(given.flag->names))
      if (name.starts_with("--")) words.push_back(name);
  return words;
}

/// "FIRST SECOND"; "" = it takes none.
std::string arguments_of(const Verb& verb) {
  Flags flags;
  verb.declare(flags);
  std::string names;
  for (const auto& flag : flags.flags())
    if (flag.positional()) names += (names.empty() ? "" : " ") + flag_heading(flag);
  return names;
}

/// The verbs that have a flag of that name.
std::vector<std::string> verbs_with(const std::vector<Verb>& verbs, const std::string& name) {
  std::vector<std::string> found;
  for (const auto& verb : verbs) {
    Flags flags;
    verb.declare(flags);
    if (!verb.text.hidden && std::ranges::any_of(flags.flags(), [&](const Flag& flag) {
          const auto names = split(flag.names);
          return !flag.positional() && std::ranges::find(names, name) != names.end();
        }))
      found.push_back(verb.text.name);
  }
  return found;
}

Error unexpected_flag(const std::string& word, const Verb* verb, const std::vector<Verb>& verbs,
                      const std::string& guess) {
  const auto name = word.substr(0, word.find('='));
  const auto owners = verbs_with(verbs, name);
  if (verb != nullptr && std::ranges::find(owners, verb->text.name) != owners.end())
    return {ErrorKind::usage, "CLI001", fmt::format("{} stands before its verb", name), "",
            fmt::format("write it behind: sagekit {} {} ...", verb->text.name, name)};
  if (verb == nullptr && !owners.empty())
    return {ErrorKind::usage, "CLI001", fmt::format("{} is a flag of {}", name, fmt::join(owners, ", ")), "",
            fmt::format("name the verb first: sagekit {} {} ...", owners.front(), name)};
  // Who has a command line of build wants to know what it would do.
  if (verb != nullptr && verb->text.name == "plan" && std::ranges::find(owners, "build") != owners.end())
    return {ErrorKind::usage, "CLI001", fmt::format("plan has no {}", name), "",
            fmt::format("leave it out: a plan reads no source and runs nothing, so that it is the same with any {}; "
                        "build --dry-run takes it and says what would run",
                        name)};
  return {ErrorKind::usage, "CLI001", fmt::format("unknown flag \"{}\"", word), "",
          owners.empty() ? guess : fmt::format("it is a flag of {}; {}", fmt::join(owners, ", "), guess)};
}

Error unexpected_word(const std::string& word, const Verb* verb, const std::vector<Verb>& verbs,
                      const std::vector<std::string>& known) {
  const auto help =
      fmt::format("see sagekit{}{} --help", verb != nullptr ? " " : "", verb != nullptr ? verb->text.name : "");
  const auto near = meant_word(word.substr(0, word.find('=')), known);
  const auto guess = near.empty() ? help : fmt::format("did you mean \"{}\"? {}", near, help);
  if (word.starts_with('-')) return unexpected_flag(word, verb, verbs, guess);
  if (verb == nullptr && (word == "uninstall" || word == "remove"))
    return {ErrorKind::usage, "CLI001", fmt::format("unknown verb \"{}\"", word), "",
            "a package is taken out by its own Python: python -m pip uninstall PACKAGE; what sagekit fetched by "
            "\"sagekit toolchain remove\""};
  if (verb == nullptr && word.find_first_of("./") != std::string::npos)
    return {ErrorKind::usage, "CLI001", fmt::format("\"{}\" is no verb", word), "",
            fmt::format("\"sagekit verify {0}\" judges a wheel, \"sagekit inspect {0}\" lists what is in it", word)};
  if (verb != nullptr && !verb->run && near.empty())
    return {ErrorKind::usage, "CLI001", fmt::format("{} has no verb \"{}\"", verb->text.name, word), "",
            fmt::format("one of: {}", fmt::join(verbs_behind(verbs, verb->text.name + " "), ", "))};
  if (verb == nullptr || !verb->run)
    return {ErrorKind::usage, "CLI001", fmt::format("unknown verb \"{}\"", word), "", guess};
  const auto takes = arguments_of(*verb);
  const auto hint = !takes.empty()           ? fmt::format("{} takes {}; {}", verb->text.name, takes, help)
                    : word.ends_with(".whl") ? fmt::format(
                                                   "\"sagekit verify {0}\" judges a wheel, \"sagekit resolve {0}\" "
                                                   "says whether it fits this machine",
                                                   word)
                    : near == word           ? help  // a verb behind a verb
                                             : guess;
  return {ErrorKind::usage, "CLI001", fmt::format("unexpected argument \"{}\"", word), "", hint};
}

}  // namespace

void declare_globals(Flags& flags, GlobalArguments& global) {
  flags.list("--plugin", "NAME|FILE", global.plugins, "Variant to work with: a plugin's name, or a plugin file");
  flags.list("--plugin-dir", "DIR", global.plugin_dirs, "Folder of further plugins");
  flags.value("-C", "DIR", global.directory, "Change to this folder first");
  flags.value(
      "--config", "FILE", global.config,
      "Settings of plan, build, generate, coverage, doctor and verify, and naming schemes for the verbs that read "
      "or write wheels' names; without it the sagekit.toml of this folder or its repository");
  flags.on("--json", global.json, "One JSON document on stdout");
  flags.on("-q,--quiet", global.quiet, "Errors only; --json prints its document all the same");
  flags.count("-v,--verbose", global.verbose,
              "Show what is done: programs that are started, what the store had, requests; twice: what the programs print, "
              "too");
  flags.value("--color", "WHEN", global.color, "Colours in text for people").choices = {"auto", "always", "never"};
  flags.on("-V,--version", global.version, "Versions of sagekit, plugin ABI and spec schema");
  flags.on("-h,--help", global.help, "This help");
  flags.reads("NO_COLOR", "Not empty: no colours");
  flags.reads("SAGEKIT_PLUGIN_PATH", "Folders of further plugins, with colons between them");
}

Result<const Verb*> parse_command_line(int argc, const char* const* argv, const std::vector<Verb>& verbs,
                                       GlobalArguments& global) {
  Flags globals;
  declare_globals(globals, global);
  Parser parser;
  parser.add_flags(parser.app(), globals);

  for (int i = 1; i < argc; ++i) global.typed += (i > 1 ? " " : "") + shell_word(argv[i]);
  // "sagekit help verify", as git and cargo have it.
  std::vector<const char*> typed(argv, argv + argc);
  if (argc > 1 && std::string_view(argv[1]) == "help") typed[1] = "--help";
  argv = typed.data();

  // Only verbs whose word stands somewhere are declared: the others cost their time at every start.
  struct Declared {
    const Verb* verb;
    CLI::App* app;
    Flags flags;
  };
  std::list<Declared> declared;
  for (const auto& verb : verbs) {
    const std::string& name = verb.text.name;
    const auto space = name.rfind(' ');
    CLI::App* parent = &parser.app();
    if (space != std::string::npos) {
      const auto group =
          std::ranges::find(declared, name.substr(0, space), [](const Declared& d) { return d.verb->text.name; });
      if (group == declared.end()) continue;
      parent = group->app;
    }
    const auto word = space == std::string::npos ? name : name.substr(space + 1);
    if (std::find(argv + 1, argv + argc, word) == argv + argc) continue;
    Declared& added = declared.emplace_back(Declared{&verb, parser.add_verb(*parent, word), {}});
    verb.declare(added.flags);
    parser.add_flags(*added.app, added.flags);
  }

  // CLI11 takes the next word as the value of "--flag=", which a script left empty.
  for (const auto* word = argv + 1; word < argv + argc && std::string_view(*word) != "--"; ++word) {
    const std::string_view text = *word;
    if (text.starts_with("--") && text.ends_with('=') && text.find('=') == text.size() - 1)
      return fail(ErrorKind::usage, "CLI001", fmt::format("{}: \"\" is empty", text.substr(0, text.size() - 1)),
                  "leave the flag out for the default");
  }

  std::string wrong;
  try {
    parser.app().parse(argc, argv);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();  // "--arch: 1 required TEXT missing", also for "--arch="
    wrong = what.substr(0, what.find(':')) + " needs a value";
  } catch (const CLI::ParseError& error) {
    wrong = error.what();
  }
  const Declared* chosen = nullptr;
  for (const auto& one : declared)
    if (one.app->parsed()) chosen = &one;
  const Verb* verb = chosen != nullptr ? chosen->verb : nullptr;
  if (!wrong.empty())
    return fail(ErrorKind::usage, "CLI001", wrong,
                fmt::format("see sagekit{} --help", verb != nullptr ? " " + verb->text.name : ""));

  // The globals come first, and who asks for help has the rest of the line still to write.
  std::size_t globals_left = globals.flags().size();
  for (const auto& given : parser.given()) {
    if (globals_left == 0 && (global.help || global.version)) break;
    if (globals_left > 0) --globals_left;
    if (const auto taken = take(given); !taken) return std::unexpected(taken.error());
    if (given.times > 0 || !given.words.empty()) global.given.insert(given.flag->long_name());
  }
  auto left = parser.app().remaining(true);
  std::erase(left, "--");  // what stands behind it is left over too, or was taken
  if ((global.help || global.version) && (verb != nullptr || left.empty())) return verb;
  if (!left.empty())
    return std::unexpected(
        unexpected_word(left.front(), verb, verbs,
                        known_words(verbs, verb == nullptr || verb->run ? "" : verb->text.name + " ", parser)));
  if (global.quiet && global.verbose > 0)
    return fail(ErrorKind::usage, "CLI001", "-q and -v want opposite things", "choose one");
  if (verb != nullptr && !verb->run)
    return fail(ErrorKind::usage, "CLI001", fmt::format("{} needs one of its verbs", verb->text.name),
                fmt::format("one of: {}; see sagekit {} --help",
                            fmt::join(verbs_behind(verbs, verb->text.name + " "), ", "), verb->text.name));
  // A word may stand for itself and be a verb's, too: "schema inspect". What that verb needs is not asked for.
  const auto is_own = [&](const Flag* flag) {
    return chosen != nullptr &&
           std::ranges::any_of(chosen->flags.flags(), [&](const Flag& own) { return &own == flag; });
  };
  for (const auto& given : parser.given())
    if (given.flag->required && given.words.empty() && is_own(given.flag))
      return fail(ErrorKind::usage, "CLI001", fmt::format("{} needs {}", verb->text.name, flag_heading(*given.flag)),
                  fmt::format("{}: {}; see sagekit {} --help", flag_heading(*given.flag), flag_sentence(*given.flag),
                              verb->text.name));
  return verb;
}

}  // namespace sagekit::host
