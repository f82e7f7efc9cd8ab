#include "help.hpp"

#include "render/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sagekit::host {

namespace {

constexpr std::size_t k_left = 26;  // where the second column begins

std::string row(const std::string& heading, const std::string& text, std::size_t width) {
  const std::string left = "  " + heading, blank(k_left, ' ');
  if (left.size() + 2 > k_left) return left + "\n" + wrap(text, blank, blank, width);
  return wrap(text, left + std::string(k_left - left.size(), ' '), blank, width);
}

std::string flags_text(const std::vector<Flag>& flags, bool positional, std::size_t width) {
  std::string text;
  for (const auto& flag : flags)
    if (flag.positional() == positional) text += row(flag_heading(flag), flag_sentence(flag), width);
  return text;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

const std::vector<std::string> k_program_examples{"sagekit --plugin sage2 build --arch 9.0",
                                                  "sagekit verify dist/*.whl"};

}  // namespace

std::string what_of(const Verb* verb) {
  return verb != nullptr ? verb->text.what
                         : "Turns a pinned source into verified GPU wheels, and says which wheel runs where and why";
}

const std::vector<std::string>& examples_of(const Verb* verb) {
  return verb != nullptr ? verb->text.examples : k_program_examples;
}

std::vector<const Verb*> verbs_below(const std::vector<Verb>& verbs, const std::string& group) {
  const std::string prefix = group.empty() ? "" : group + " ";
  std::vector<const Verb*> below;
  for (const auto& verb : verbs)
    if (!verb.text.hidden && verb.text.name.starts_with(prefix) &&
        verb.text.name.find(' ', prefix.size()) == std::string::npos)
      below.push_back(&verb);
  return below;
}

std::string usage_line(const Verb* verb, const Flags& flags) {
  std::string line = "sagekit";
  if (verb != nullptr) line += " " + verb->text.name;
  if (verb == nullptr || !verb->run) return line + " VERB [FLAGS]";
  line += " [FLAGS]";
  for (const auto& flag : flags.flags())
    if (flag.positional())
      line += fmt::format(" {}{}{}{}", flag.required ? "" : "[", upper(flag.names), flag.repeatable ? "..." : "",
                          flag.required ? "" : "]");
  return line;
}

std::string flag_heading(const Flag& flag) {
  if (flag.positional()) return upper(flag.names) + (flag.repeatable ? "..." : "");
  std::string heading = flag.names;
  if (const auto comma = heading.find(','); comma != std::string::npos) heading.insert(comma + 1, " ");
  return flag.type.empty() ? heading : heading + " " + flag.type;
}

std::string flag_sentence(const Flag& flag) {
  std::string sentence = flag.what;
  std::vector<std::string> more;
  if (!flag.choices.empty()) more.push_back(fmt::format("one of {}", fmt::join(flag.choices, ", ")));
  if (!flag.preset.empty()) more.push_back("default: " + flag.preset);
  if (flag.required && !flag.positional()) more.emplace_back("required");
  if (flag.repeatable && !flag.type.empty() && !flag.positional())
    more.emplace_back(flag.commas ? "repeatable, or with commas" : "repeatable");
  if (!more.empty()) sentence += fmt::format(" [{}]", fmt::join(more, "; "));
  return sentence;
}

std::vector<Exit> exits_of(const Verb* verb) {
  std::vector<Exit> exits{{0, "done"}};
  if (verb != nullptr) exits.insert(exits.end(), verb->text.exits.begin(), verb->text.exits.end());
  const auto add = [&](int code, const char* when) {
    if (std::ranges::find(exits, code, &Exit::code) == exits.end()) exits.push_back({code, when});
  };
  if (verb == nullptr) {
    add(1, "the work failed: a step, a finding that is an error, a bad download");
    add(4, "a selection that matches nothing");
  }
  add(2, "wrong usage, configuration, plugin or input");
  add(3, "this machine cannot: a tool is missing or too old, the disk is full");
  add(70, "a bug in sagekit");
  add(130, "interrupted");
  if (exits.size() > 1 && std::ranges::count(exits, 0, &Exit::code) > 1) exits.erase(exits.begin());
  std::ranges::stable_sort(exits, {}, &Exit::code);
  return exits;
}

std::string help_text(const std::vector<Verb>& verbs, const Verb* verb, std::size_t width) {
  GlobalArguments unused;
  Flags globals, own;
  declare_globals(globals, unused);
  if (verb != nullptr) verb->declare(own);
  const bool group = verb == nullptr || !verb->run;

  std::string text = wrap(what_of(verb) + ".", "", "", width);
  text += fmt::format("\nUsage: {}\n", usage_line(verb, own));
  if (group) {
    text += "\nVerbs:\n";
    for (const auto* one : verbs_below(verbs, verb != nullptr ? verb->text.name : ""))
      text += row(verb != nullptr ? one->text.name.substr(verb->text.name.size() + 1) : one->text.name, one->text.what,
                  width);
  }
  if (const auto positional = flags_text(own.flags(), true, width); !positional.empty())
    text += "\nArguments:\n" + positional;
  if (const auto flags = flags_text(own.flags(), false, width); !flags.empty()) text += "\nFlags:\n" + flags;
  text += "\nFlags of every verb:\n" + flags_text(globals.flags(), false, width);
  text += "\nExamples:\n";
  for (const auto& example : examples_of(verb)) text += "  " + example + "\n";
  text += "\nEnvironment:\n";
  for (const auto* flags : {&own, &globals})
    for (const auto& variable : flags->variables()) text += row(variable.name, variable.what, width);
  text += "\nExit codes:\n";
  for (const auto& [code, when] : exits_of(verb)) text += row(std::to_string(code), when, width);
  return text;
}

}  // namespace sagekit::host
