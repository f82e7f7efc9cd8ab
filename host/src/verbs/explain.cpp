#include "explain.hpp"

#include "printable.hpp"
#include "render/cause_text.hpp"
#include "render/finding_pages.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/causes.hpp>
#include <sagekit/finding.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace sagekit::host {

LogFacts facts_of(const Environment& machine) {
  LogFacts facts{{"os", machine.os}, {"machine", machine.machine}};
  if (!machine.gpus.empty()) {
    facts["gpu"] = machine.gpus.front().name;
    facts["capability"] = to_string(machine.gpus.front().capability);
    facts["driver"] = machine.gpus.front().driver;
  }
  for (const auto& nvcc : machine.nvcc)
    if (nvcc.ready && nvcc.source == ToolSource::system) facts.try_emplace("nvcc", nvcc.cuda);
  for (const auto& torch : machine.torches) {
    if (!torch.ready || torch.interpreter.empty()) continue;
    facts.try_emplace("torch", torch.version);
    facts.try_emplace("python", torch.python);
    if (!torch.cuda.empty()) facts.try_emplace("cuda", torch.cuda);
  }
  return facts;
}

int explain_code(Session& session, const std::string& code) {
  auto pages = cause_pages(code);
  if (pages.empty()) {
    auto findings = explain_finding(code);
    if (!findings) return report(session, findings.error());
    pages = std::move(*findings);
  }
  if (session.global.json)
    session.console.document(findings_json(pages));
  else
    session.console.result(finding_pages_text(session.console, pages));
  return 0;
}

namespace {

constexpr int k_nothing_known = 4;
constexpr std::string_view k_own_error = "WHY905";  ///< the row for lines of sagekit's own, whose code has a page

struct ExplainArguments {
  std::vector<std::string> words;
  bool here = false;
};

void declare(Flags& flags, ExplainArguments& arguments) {
  flags
      .arguments(
          "log", arguments.words,
          "A log, gzip too; - is stdin. Or what it said, in quotes. Or a code, \"FAT101\" or \"FAT 101\", or a family "
          "of codes, \"FAT\"")
      .required = true;
  flags.on("--here", arguments.here,
           "It failed on this machine: choose the fix by what is here, not by what the log says");
}

/// A word like FAT101, WHY or c07 that is no file, or FAT1O1, with letters where digits belong; or rule-threw, a
/// judge's.
bool is_code(const std::string& text) {
  constexpr std::ptrdiff_t k_family = 3;  // letters
  constexpr std::size_t k_longest = 7;
  const auto digits = std::ranges::find_if(text, [](char c) { return c >= '0' && c <= '9'; });
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_either = [&](char c) { return is_letter(c) || is_digit(c); };
  std::error_code error;
  if (text.starts_with("rule-") && std::ranges::count(text, ' ') == 0) return !std::filesystem::exists(text, error);
  const bool is_near = digits != text.end() && digits - text.begin() == k_family && text.size() <= k_longest;
  return digits != text.begin() && std::all_of(text.begin(), digits, is_letter) &&
         (std::all_of(digits, text.end(), is_digit) || (is_near && std::all_of(digits, text.end(), is_either))) &&
         !std::filesystem::exists(text, error);
}

/// Words that something said, and no file's name: "No module named 'torch'".
bool is_said(const std::string& text) {
  if (text.find(' ') == std::string::npos) return false;
  std::error_code error;
  if (std::filesystem::exists(text, error)) return false;
  for (const auto* ending : {".log", ".txt", ".gz", ".out"})
    if (text.ends_with(ending)) return false;
  const auto folder = std::filesystem::path(text).parent_path();
  return folder.empty() || !std::filesystem::is_directory(folder, error);
}

/// The first of sagekit's own codes in its words: "error[RES213]: ..."; "" = it has none.
std::string code_in(const std::string& said) {
  constexpr auto k_of_codes = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const auto pages = finding_pages();
  for (auto begin = said.find_first_of(k_of_codes); begin != std::string::npos;) {
    const auto end = std::min(said.find_first_not_of(k_of_codes, begin), said.size());
    const auto word = said.substr(begin, end - begin);
    if (std::ranges::find(pages, word, &FindingPage::code) != pages.end()) return word;
    begin = said.find_first_of(k_of_codes, end);
  }
  return {};
}

Result<Explanation> read_log(const std::string& what, const LogFacts& here) {
  if (is_said(what)) return explain_log_text(what, here);
  if (what != "-") return explain_log_file(what, here);
  const auto read = [](char* room, std::size_t size) -> Result<std::size_t> {
    std::cin.read(room, static_cast<std::streamsize>(size));
    return static_cast<std::size_t>(std::cin.gcount());
  };
  return explain_log(read, here);
}

int run(Session& session, const ExplainArguments& arguments) {
  std::string what;
  for (const auto& word : arguments.words) what += word;
  if (const auto blank = what.find(' '); blank != std::string::npos && what.find_first_of("0123456789") == blank + 1)
    if (auto code = what; is_code(code.erase(blank, 1))) what = code;                    // "FAT 101" in quotes
  if (arguments.words.size() <= 2 && is_code(what)) return explain_code(session, what);  // "FAT 101"
  const auto is_whole_code = [](const std::string& word) { return is_code(word) && word.back() <= '9'; };
  if (arguments.words.size() > 1 && std::ranges::all_of(arguments.words, is_whole_code))
    return report(session, {ErrorKind::usage, "CLI001", "explain takes one code at a time", "", "call it for each"});
  std::error_code error;
  const auto is_there = [&](const std::string& word) { return std::filesystem::exists(word, error); };
  if (arguments.words.size() > 1 && std::ranges::none_of(arguments.words, is_there)) {
    what.clear();  // what was said, without the quotes
    for (const auto& word : arguments.words) what += (what.empty() ? "" : " ") + word;
  } else if (arguments.words.size() > 1)
    return report(session, {ErrorKind::usage, "CLI001", "explain reads one log at a time", "", "call it for each"});
  LogFacts here;
  if (arguments.here) {
    const auto machine = session.environment({});
    if (!machine) return report(session, machine.error());
    here = facts_of(*machine);
  }
  const auto explanation = read_log(what, here);
  if (!explanation) return report(session, explanation.error());
  const auto& causes = explanation->causes;
  if (is_said(what) && std::ranges::all_of(causes, [](const auto& one) { return one.code == k_own_error; }))
    if (const auto code = code_in(what); !code.empty()) return explain_code(session, code);
  if (session.global.json)
    session.console.document(explanation_json(*explanation));
  else
    session.console.result(explanation_text(session.console, *explanation));
  return explanation->causes.empty() ? k_nothing_known : 0;
}

}  // namespace

std::vector<Verb> explain_verbs() {
  return {make_verb<ExplainArguments>(
      {.name = "explain",
       .what = "Why a build, install, import or run failed, out of its log; or what a code means",
       .examples = {"sagekit explain build.log", "pip install -v sageattention 2>&1 | sagekit explain - --here",
                    "sagekit explain comfyui.log --json", "sagekit explain \"No module named 'triton'\"",
                    "sagekit explain FAT101", "sagekit explain ELF --json"},
       .exits = {{2, "the log cannot be read, or there is no such code"},
                 {k_nothing_known, "nothing in the log is known as a cause, or nothing failed"}}},
      declare, run)};
}

}  // namespace sagekit::host
