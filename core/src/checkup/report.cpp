// The block for a bug report: everything that was found, and nothing that says whose machine it is.
#include "checkup/looks.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/version.hpp>

#include <algorithm>
#include <array>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

bool is_word(char c) { return is_letter_or_digit(c) || c == '_' || c == '-'; }

/// `word` as a word of its own, in any case.
std::string without_word(std::string text, const std::string& word, std::string_view instead) {
  // Shorter ones are in every other word, and these names are everybody's.
  constexpr std::size_t shortest = 3;
  static constexpr std::array<std::string_view, 4> common{"root", "user", "localhost", "home"};
  if (word.size() < shortest || std::ranges::count(common, std::string_view(word)) > 0) return text;
  const std::string wanted = lower(word);
  std::string out;
  std::size_t at = 0;
  for (std::string low = lower(text);;) {
    const auto found = low.find(wanted, at);
    if (found == std::string::npos) return out + text.substr(at);
    const bool starts = found == 0 || !is_word(text[found - 1]);
    const auto after = found + wanted.size();
    const bool ends = after == text.size() || !is_word(text[after]);
    out += text.substr(at, found - at);
    out += starts && ends ? std::string(instead) : text.substr(found, wanted.size());
    at = after;
  }
}

/// /home/ann/x and /Users/ann/x, whoever ann is.
std::string without_homes(std::string text) {
  for (const std::string_view base : {"/home/", "/Users/", "C:\\Users\\"}) {
    std::size_t at = 0;
    while ((at = text.find(base, at)) != std::string::npos) {
      const auto begin = at + base.size();
      auto end = begin;
      while (end < text.size() && text[end] != '/' && text[end] != '\\' && text[end] != ' ' && text[end] != ':' &&
             text[end] != '\n' && text[end] != '\'' && text[end] != '"')
        ++end;
      text.replace(at, end - at, "~");
      ++at;
    }
  }
  return text;
}

/// https://name:secret@host becomes https://***@host.
std::string without_passwords(std::string text) {
  std::size_t at = 0;
  while ((at = text.find("://", at)) != std::string::npos) {
    at += 3;
    const auto end = text.find_first_of("/ \n\t'\"", at);
    const auto sign = text.substr(at, end == std::string::npos ? end : end - at).rfind('@');
    if (sign != std::string::npos) text.replace(at, sign, "***");
  }
  return text;
}

/// The tokens of those whose tools stand in such logs, known by how they begin.
std::string without_tokens(std::string text) {
  for (const std::string_view start : {"ghp_", "gho_", "ghs_", "github_pat_", "hf_", "pypi-", "sk-"}) {
    std::size_t at = 0;
    while ((at = text.find(start, at)) != std::string::npos) {
      auto end = at + start.size();
      while (end < text.size() && is_word(text[end])) ++end;
      constexpr std::size_t shortest = 16;
      if (end - at >= shortest && (at == 0 || !is_word(text[at - 1]))) text.replace(at, end - at, "***");
      at += start.size() > 3 ? 3 : start.size();
    }
  }
  return text;
}

}  // namespace

std::string without_private(std::string_view given, const fs::path& home,
                            const std::vector<std::string>& private_words) {
  std::string text(given);
  if (const auto own = home.lexically_normal().string(); own.size() > 1) text = replace_all(text, own, "~");
  text = without_homes(without_tokens(without_passwords(std::move(text))));
  for (const auto& word : private_words) text = without_word(std::move(text), word, "USER");
  return text;
}

std::string checkup_report(const Checkup& checkup, const CheckupOptions& options,
                           const std::vector<std::string>& private_words) {
  std::string text = fmt::format("sagekit {} doctor\n", SAGEKIT_VERSION);
  for (const auto& row : checkup.rows) {
    text += fmt::format("{:<8} {}: {}", to_string(row.state), row.what, replace_all(row.found, "\n", " "));
    if (!row.code.empty()) text += fmt::format(" [{}]", row.code);
    text += "\n";
  }
  for (const auto& package : checkup.packages)
    for (const auto& row : package.runs_on)
      text += fmt::format("runs     {} {} on {}: {} ({})\n", package.name, package.version, to_string(row.capability),
                          to_string(row.verdict), row.reason);
  for (const auto& [name, value] : options.variables)
    if (name != "PATH" && name != "HOME") text += fmt::format("set      {}={}\n", name, replace_all(value, "\n", " "));
  return without_private(text, options.probe.home, private_words);
}

}  // namespace sagekit
