#include "command_line.hpp"
#include "help.hpp"
#include "output_file.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/nearest.hpp>
#include <sagekit/version.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace sagekit::host {

namespace {

/// Text as man(7) wants it: dashes that can be copied, no line that is a request.
std::string roff(std::string_view text) {
  std::string result = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) result += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  return result;
}

std::string tagged(const std::string& heading, const std::string& text) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(heading), roff(text));
}

std::string flags_section(std::string_view title, const Flags& flags, bool positional) {
  std::string text;
  for (const auto& flag : flags.flags())
    if (flag.positional() == positional) text += tagged(flag_heading(flag), flag_sentence(flag));
  return text.empty() ? "" : fmt::format(".SH {}\n{}", title, text);
}

std::string page_name(const std::string& verb) {
  std::string name = verb.empty() ? "sagekit" : "sagekit-" + verb;
  std::ranges::replace(name, ' ', '-');
  return name;
}

/// The page of a verb, or of the program when it is null.
std::string man_page(const std::vector<Verb>& verbs, const Verb* verb) {
  GlobalArguments unused;
  Flags globals, own;
  declare_globals(globals, unused);
  if (verb != nullptr) verb->declare(own);
  const std::string name = page_name(verb == nullptr ? "" : verb->text.name);
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = fmt::format(".TH {} 1 \"\" \"sagekit {}\"\n.SH NAME\n{} \\- {}\n", roff(title), version(),
                                 roff(name), roff(what_of(verb)));
  text += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR\n", roff(usage_line(verb, own)));
  std::string below;
  for (const auto* one : verbs_below(verbs, verb == nullptr ? "" : verb->text.name))
    below += tagged(page_name(one->text.name) + "(1)", one->text.what);
  if (!below.empty()) text += ".SH VERBS\n" + below;
  text += flags_section("ARGUMENTS", own, true);
  text += flags_section("FLAGS", own, false);
  text += flags_section("\"FLAGS OF EVERY VERB\"", globals, false);
  text += ".SH ENVIRONMENT\n";
  for (const auto* flags : {&own, &globals})
    for (const auto& variable : flags->variables()) text += tagged(variable.name, variable.what);
  text += ".SH \"EXIT STATUS\"\n";
  for (const auto& [code, when] : exits_of(verb)) text += tagged(std::to_string(code), when);
  text += ".SH EXAMPLES\n.nf\n";
  for (const auto& example : examples_of(verb)) text += roff(example) + "\n";
  text += ".fi\n";
  if (verb != nullptr) text += ".SH \"SEE ALSO\"\n\\fBsagekit\\fR(1)\n";
  return text;
}

struct ManArguments {
  std::vector<std::string> words;
  std::string folder;
};

void declare(Flags& flags, ManArguments& arguments) {
  flags.arguments("verb", arguments.words, "The verb whose page it is; without it the program's");
  flags.value("-o,--output", "DIR", arguments.folder, "Write every page into this folder, as sagekit-VERB.1");
}

int run(Session& session, const ManArguments& arguments) {
  const auto verbs = all_verbs();
  if (!arguments.folder.empty()) {
    std::error_code error;
    std::filesystem::create_directories(arguments.folder, error);
    std::vector<const Verb*> every{nullptr};
    for (const auto& verb : verbs)
      if (!verb.text.hidden) every.push_back(&verb);
    for (const auto* verb : every) {
      const auto file =
          std::filesystem::path(arguments.folder) / (page_name(verb == nullptr ? "" : verb->text.name) + ".1");
      if (const auto written = write_output(file, OutputKind::manual, man_page(verbs, verb)); !written)
        return report(session, written.error());
    }
    return 0;
  }
  const auto name = fmt::format("{}", fmt::join(arguments.words, " "));
  const auto found = std::ranges::find(verbs, name, [](const Verb& verb) { return verb.text.name; });
  if (found == verbs.end() && !name.empty()) {
    std::vector<std::string> names;
    for (const auto& verb : verbs)
      if (!verb.text.hidden) names.push_back(verb.text.name);
    const auto near = nearest_word(name, names);
    return report(session, {ErrorKind::usage, "CLI001", fmt::format("there is no verb \"{}\"", name), "",
                            near.empty() ? "sagekit --help lists them" : fmt::format("did you mean \"{}\"?", near)});
  }
  session.console.document(man_page(verbs, name.empty() ? nullptr : &*found));
  return 0;
}

}  // namespace

std::vector<Verb> man_verbs() {
  return {make_verb<ManArguments>({.name = "man",
                                   .what = "The manual pages, made of the same text as --help",
                                   .examples = {"sagekit man build | man -l -", "sagekit man -o share/man/man1"},
                                   .exits = {}},
                                  declare, run)};
}

}  // namespace sagekit::host
