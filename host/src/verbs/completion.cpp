#include "command_line.hpp"
#include "help.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sagekit::host {

namespace {

/// What may stand behind a verb ("" = the program): its verbs, its flags and those of every verb.
struct Place {
  std::string verb;
  std::vector<const Verb*> below;
  std::vector<Flag> flags = {};
  std::vector<std::string> words = {};  ///< its argument is one of these
  bool files = false;                   ///< its arguments are whatever the user has
};

std::vector<Place> places(const std::vector<Verb>& verbs) {
  std::vector<Place> all;
  GlobalArguments unused;
  Flags globals;
  declare_globals(globals, unused);
  const auto add = [&](const Verb* verb) {
    Place place{verb == nullptr ? "" : verb->text.name, verbs_below(verbs, verb == nullptr ? "" : verb->text.name)};
    Flags own;
    if (verb != nullptr) verb->declare(own);
    for (const auto& flags : {own.flags(), globals.flags()})
      for (const auto& flag : flags) {
        if (!flag.positional()) place.flags.push_back(flag);
        if (flag.positional() && !flag.choices.empty()) place.words = flag.choices;
        place.files = place.files || (flag.positional() && flag.choices.empty());
      }
    all.push_back(std::move(place));
  };
  add(nullptr);
  for (const auto& verb : verbs)
    if (!verb.text.hidden) add(&verb);
  return all;
}

std::string last_word(const std::string& name) { return name.substr(name.rfind(' ') + 1); }

std::vector<std::string> names_of(const Flag& flag) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= flag.names.size();) {
    const auto end = std::min(flag.names.find(',', at), flag.names.size());
    names.push_back(flag.names.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

/// In single quotes, for any of the three shells; the texts have no line ends.
std::string quoted(std::string text, std::string_view quote = "'\\''") {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += quote.size())
    text.replace(at, 1, quote);
  return "'" + text + "'";
}

std::string all_names(const std::vector<Place>& places) {
  std::vector<std::string> names;
  for (const auto& place : places)
    if (!place.verb.empty()) names.push_back(quoted(place.verb));
  return fmt::format("{}", fmt::join(names, "|"));
}

/// The verb that is being written is found the same way by bash and zsh.
std::string find_verb(const std::vector<Place>& places, std::string_view words) {
  return fmt::format(
      "  local verb='' word\n  for word in \"${{{}}}\"; do\n    case \"${{verb:+$verb }}$word\" in\n      {})"
      " verb=\"${{verb:+$verb }}$word\" ;;\n    esac\n  done\n",
      words, all_names(places));
}

/// One line a flag that has choices or takes a file: what completes its value.
template <class Line>
std::string value_lines(const Place& place, const Line& line) {
  std::string text;
  for (const auto& flag : place.flags) {
    if (flag.type.empty()) continue;
    std::vector<std::string> patterns;
    for (const auto& name : names_of(flag)) patterns.push_back(quoted(place.verb + " " + name));
    text += line(fmt::format("{}", fmt::join(patterns, "|")), flag);
  }
  return text;
}

bool is_folder(const Flag& flag) { return flag.type == "DIR"; }
bool is_file(const Flag& flag) {
  return flag.type.find("FILE") != std::string::npos || flag.type.find("PATH") != std::string::npos || is_folder(flag);
}

std::string bash_text(const std::vector<Place>& places) {
  std::string text = "# bash completion of sagekit; made by `sagekit completion bash`.\n_sagekit() {\n";
  text += "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" flags='' verbs='' files=''\n";
  // bash makes three words of --color=a.
  text += "  [[ $cur == = ]] && cur=''\n  [[ $prev == = ]] && prev=\"${COMP_WORDS[COMP_CWORD-2]}\"\n";
  text += find_verb(places, "COMP_WORDS[@]:1:COMP_CWORD-1");
  text += "  case \"$verb $prev\" in\n";
  for (const auto& place : places)
    text += value_lines(place, [](const std::string& patterns, const Flag& flag) {
      const std::string action =
          !flag.choices.empty()
              ? fmt::format("compgen -W {} -- \"$cur\"", quoted(fmt::format("{}", fmt::join(flag.choices, " "))))
          : is_folder(flag) ? "compgen -d -- \"$cur\""
          : is_file(flag)   ? "compgen -f -- \"$cur\""
                            : "";
      return fmt::format("    {}) {}return ;;\n", patterns,
                         action.empty() ? "" : fmt::format("mapfile -t COMPREPLY < <({}); ", action));
    });
  text += "  esac\n  case \"$verb\" in\n";
  for (const auto& place : places) {
    std::vector<std::string> flags, verbs;
    for (const auto& flag : place.flags)
      for (const auto& name : names_of(flag)) flags.push_back(name);
    for (const auto* verb : place.below) verbs.push_back(last_word(verb->text.name));
    verbs.insert(verbs.end(), place.words.begin(), place.words.end());
    text += fmt::format("    {}) flags='{}' verbs='{}'{} ;;\n", quoted(place.verb), fmt::join(flags, " "),
                        fmt::join(verbs, " "), place.files ? " files=1" : "");
  }
  return text +
         "  esac\n"
         "  if [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$cur\")\n"
         "  elif [[ -n $verbs ]]; then mapfile -t COMPREPLY < <(compgen -W \"$verbs\" -- \"$cur\")\n"
         "  elif [[ -n $files ]]; then mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); fi\n"
         "}\ncomplete -o filenames -F _sagekit sagekit\n";
}

/// "name:what" for _describe.
std::string described(const std::string& name, std::string what) {
  for (std::size_t at = 0; (at = what.find(':', at)) != std::string::npos; at += 2) what.replace(at, 1, "\\:");
  return quoted(name + ":" + what);
}

std::string zsh_text(const std::vector<Place>& places) {
  std::string text = "#compdef sagekit\n# zsh completion of sagekit; made by `sagekit completion zsh`.\n_sagekit() {\n";
  text += "  local -a flags verbs\n  local files=''\n" + find_verb(places, "words[@]:1:$((CURRENT-2))");
  text += "  case \"$verb $words[CURRENT-1]\" in\n";
  for (const auto& place : places)
    text += value_lines(place, [](const std::string& patterns, const Flag& flag) {
      const std::string action = !flag.choices.empty() ? fmt::format("compadd -- {}; ", fmt::join(flag.choices, " "))
                                 : is_folder(flag)     ? "_files -/; "
                                 : is_file(flag)       ? "_files; "
                                                       : "";
      return fmt::format("    {}) {}return ;;\n", patterns, action);
    });
  text += "  esac\n  case \"$verb\" in\n";
  for (const auto& place : places) {
    std::string flags, verbs;
    for (const auto& flag : place.flags)
      for (const auto& name : names_of(flag)) flags += " " + described(name, flag.what);
    for (const auto* verb : place.below) verbs += " " + described(last_word(verb->text.name), verb->text.what);
    for (const auto& word : place.words) verbs += " " + quoted(word);
    text += fmt::format("    {}) flags=({} ) verbs=({} ){} ;;\n", quoted(place.verb), flags, verbs,
                        place.files ? " files=1" : "");
  }
  return text +
         "  esac\n"
         "  if [[ $PREFIX == -* ]]; then _describe -o flag flags\n"
         "  elif (( $#verbs )); then _describe verb verbs\n"
         "  elif [[ -n $files ]]; then _files; fi\n"
         "}\nif [[ $funcstack[1] == _sagekit ]]; then _sagekit \"$@\"; else compdef _sagekit sagekit; fi\n";
}

std::string fish_text(const std::vector<Place>& places) {
  std::vector<std::string> names;
  for (const auto& place : places)
    if (!place.verb.empty()) names.push_back(quoted(place.verb, "\\'"));
  std::string text = fmt::format(
      "# fish completion of sagekit; made by `sagekit completion fish`.\n"
      "function __sagekit_verb\n  set -l verb ''\n  for word in (commandline -opc)[2..]\n"
      "    switch (string trim \"$verb $word\")\n      case {}\n        set verb (string trim \"$verb $word\")\n"
      "    end\n  end\n  test \"$verb\" = \"$argv\"\nend\ncomplete -c sagekit -f\n",
      fmt::join(names, " "));
  for (const auto& place : places) {
    const auto line = fmt::format("complete -c sagekit -n {}", quoted("__sagekit_verb " + place.verb, "\\'"));
    for (const auto* verb : place.below)
      text += fmt::format("{} -a {} -d {}\n", line, last_word(verb->text.name), quoted(verb->text.what, "\\'"));
    if (place.files) text += line + " -F\n";
    if (!place.words.empty()) text += fmt::format("{} -a '{}'\n", line, fmt::join(place.words, " "));
    for (const auto& flag : place.flags) {
      text += line;
      for (const auto& name : names_of(flag))
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!flag.type.empty()) text += is_file(flag) ? " -rF" : " -x";
      if (!flag.choices.empty()) text += fmt::format(" -a '{}'", fmt::join(flag.choices, " "));
      text += fmt::format(" -d {}\n", quoted(flag.what, "\\'"));
    }
  }
  return text;
}

struct CompletionArguments {
  std::string shell;
};

void declare(Flags& flags, CompletionArguments& arguments) {
  flags.argument("shell", arguments.shell, "The shell to complete in").choices = {"bash", "zsh", "fish"};
}

int run(Session& session, const CompletionArguments& arguments) {
  const auto verbs = all_verbs();
  const auto all = places(verbs);
  session.console.document(arguments.shell == "bash"  ? bash_text(all)
                           : arguments.shell == "zsh" ? zsh_text(all)
                                                      : fish_text(all));
  return 0;
}

}  // namespace

std::vector<Verb> completion_verbs() {
  return {make_verb<CompletionArguments>(
      {.name = "completion",
       .what = "A shell's completion of sagekit, to be read by the shell",
       .examples = {"sagekit completion bash > ~/.local/share/bash-completion/completions/sagekit",
                    "sagekit completion zsh > ~/.zfunc/_sagekit",
                    "sagekit completion fish > ~/.config/fish/completions/sagekit.fish"}},
      declare, run)};
}

}  // namespace sagekit::host
