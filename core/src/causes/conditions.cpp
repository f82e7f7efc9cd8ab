#include "causes/conditions.hpp"

#include "support/text.hpp"

#include <sagekit/version_number.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <compare>
#include <optional>
#include <utility>

namespace sagekit {

namespace {

/// "26.00 MiB" in bytes; nothing for what has no unit.
std::optional<double> size_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const auto unit = lower(trim(text.substr(static_cast<std::size_t>(end - text.data()))));
  double scale = 1;
  for (const auto* name : {"kib", "mib", "gib", "tib"}) {
    scale *= 1024;
    if (unit == name) return number * scale;
  }
  return std::nullopt;
}

std::partial_ordering compared(std::string_view left, std::string_view right) {
  if (const auto a = size_of(left), b = size_of(right); a && b) return *a <=> *b;
  const auto a = parse_version_number(left), b = parse_version_number(right);
  if (a && b) return *a <=> *b;
  return left == right ? std::partial_ordering::equivalent : std::partial_ordering::unordered;
}

}  // namespace

Holds holds(const CauseCondition& condition, const LogFacts& known) {
  const auto left = known.find(condition.left);
  if (left == known.end()) return Holds::unknown;
  const auto named = known.find(condition.right);
  const auto order = compared(left->second, named == known.end() ? condition.right : named->second);
  const auto& op = condition.op;
  const bool yes = op == "<"    ? order < 0
                   : op == "<=" ? order <= 0
                   : op == ">"  ? order > 0
                   : op == ">=" ? order >= 0
                   : op == "="  ? order == 0
                                : order != 0;
  return yes ? Holds::yes : Holds::no;
}

Holds all_hold(const std::vector<CauseCondition>& conditions, const LogFacts& known) {
  auto all = Holds::yes;
  for (const auto& condition : conditions) {
    const auto one = holds(condition, known);
    if (one == Holds::no) return one;
    if (one == Holds::unknown) all = one;
  }
  return all;
}

std::string in_words(std::string_view condition) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 15> k_words{
      {{"os = windows", "on Windows"},
       {"os != linux", "on Windows"},
       {"os = linux", "on Linux"},
       {"os != windows", "on Linux"},
       {"installer != sagekit", "outside of sagekit"},
       {"installer = portable", "in a portable edition"},
       {"installer != portable", "outside of portable editions"},
       {"installer = uv", "with uv"},
       {"installer != uv", "with pip"},
       {"frame_node != none", "a node of ComfyUI is in the traceback"},
       {"frame = package", "the traceback ends in a package"},
       {"frame_owner = owner", "and it is that package"},
       {"frame = comfyui", "the traceback ends in ComfyUI's own files"},
       {"frame = own", "the traceback ends in a file of your own"},
       {"frame = none", "without a traceback"}}};
  const auto words = std::ranges::find(k_words, condition, &std::pair<std::string_view, std::string_view>::first);
  return words != k_words.end() ? std::string(words->second) : "when " + std::string(condition);
}

std::string mark_of(const CauseFixRow& fix, const LogFacts& known, const CauseData& data) {
  std::vector<std::string> marks;
  for (const auto& condition : fix.conditions) {
    // Groups of the pattern are of the message, not of the machine.
    const bool is_of_machine = std::ranges::find(data.facts, condition.left, &FactRow::name) != data.facts.end();
    if (!is_of_machine || holds(condition, known) != Holds::unknown) continue;
    // Nobody is told that he works as most people do.
    if (condition.left == "installer" && condition.op == "!=" && condition.right != "uv") continue;
    marks.push_back(in_words(condition.text));
  }
  return join(marks, ", ");
}

std::string with_places(std::string_view text, const PlaceText& of) {
  std::string result;
  while (!text.empty()) {
    auto open = text.find('{');
    while (open != std::string_view::npos && open > 0 && text[open - 1] == '$') open = text.find('{', open + 1);
    const auto close = open == std::string_view::npos ? open : text.find('}', open);
    if (close == std::string_view::npos) break;
    const auto name = text.substr(open + 1, close - open - 1);
    const auto bar = name.find('|');
    result += text.substr(0, open);
    result +=
        of(name.substr(0, bar), bar == std::string_view::npos ? std::nullopt : std::optional(name.substr(bar + 1)));
    text.remove_prefix(close + 1);
  }
  return result += text;
}

std::string filled(std::string_view text, const LogFacts& known) {
  return with_places(text, [&](auto name, auto usual) {
    const auto found = known.find(std::string(name));
    return found != known.end() ? found->second : std::string(usual.value_or(""));
  });
}

std::string filled_command(std::string_view text, const LogFacts& known) {
  LogFacts plain = known;
  // {means} is a row's own text.
  std::erase_if(plain, [](const auto& fact) {
    return fact.first != "means" && fact.second.find_first_of(" \t\n\r$`\"';&|()*?") != std::string::npos;
  });
  return filled(text, plain);
}

std::string for_that_python(std::string command, const LogFacts& known) {
  const auto program = known.find("python_program");
  if (program == known.end()) return command;
  for (const std::string_view word : {"python -m ", "python -c "}) {
    const auto own = program->second + std::string(word.substr(word.find(' ')));
    if (command.starts_with(word)) command.replace(0, word.size(), own);
    command = replace_all(command, "& " + std::string(word), "& " + own);
  }
  constexpr std::string_view k_last = "--interpreter python";
  if (command.ends_with(k_last))
    command.replace(command.size() - k_last.size(), k_last.size(), "--interpreter " + program->second);
  return command;
}

std::string capability_of_sm(std::string_view sm) {
  if (sm.starts_with("sm_")) sm.remove_prefix(3);
  while (!sm.empty() && (sm.back() == 'a' || sm.back() == 'f')) sm.remove_suffix(1);
  if (sm.size() < 2 || sm.size() > 3 || !is_digits(sm)) return {};
  return std::string(sm.substr(0, sm.size() - 1)) + "." + std::string(sm.substr(sm.size() - 1));
}

}  // namespace sagekit
