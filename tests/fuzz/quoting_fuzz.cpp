// The writers of literals: whatever the word is, what is written is one literal of its language, and nothing behind it.
#include "fuzz_target.hpp"
#include "generate/head.hpp"
#include "generate/quote.hpp"
#include "support/json.hpp"
#include "support/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

using namespace sagekit;

namespace {

/// What a POSIX shell makes of one word; nothing when it is not one, or when the shell would expand something in it.
std::optional<std::string> shell_reads(std::string_view text) {
  std::string word;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\'') {
      const auto end = text.find('\'', i + 1);
      if (end == text.npos) return std::nullopt;
      word += text.substr(i + 1, end - i - 1);
      i = end;
    } else if (text[i] == '\\') {
      if (++i == text.size()) return std::nullopt;
      word += text[i];
    } else if (std::string_view(" \t\n|&;<>()$`\"*?[#~=%!{}").find(text[i]) != std::string_view::npos &&
               std::string_view("=%").find(text[i]) == std::string_view::npos) {
      return std::nullopt;
    } else {
      word += text[i];
    }
  }
  return word;
}

/// A value of ENV: Dockerfile's double quotes.
std::optional<std::string> dockerfile_reads(std::string_view text) {
  if (text.size() < 2 || text.front() != '"') return std::nullopt;
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1 == text.size() ? std::optional(value) : std::nullopt;
    if (text[i] == '$') return std::nullopt;
    if (text[i] == '\\' && ++i == text.size()) return std::nullopt;
    value += text[i];
  }
  return std::nullopt;
}

std::optional<std::string> json_reads(const std::string& text) {
  const auto value = parse_json(text);
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

void want(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

SAGEKIT_FUZZ_TARGET(quoting) {
  const std::string word(reinterpret_cast<const char*>(data), size);
  const auto line = comment_text(word);
  want(line.find_first_of("\n\r") == std::string::npos);
  want(is_as_generated(with_head(word + "\n", word)));
  if (!check_word("the word", word)) return 0;
  want(is_utf8(word));
  want(shell_reads(shell_text(word)) == word);
  want(dockerfile_reads(dockerfile_text(word)) == word);
  want(json_reads(yaml_text(word)) == word);
  want(json_reads(hcl_text(word)) == word && hcl_text(word).find_first_of("$%") == std::string::npos);
  want(json_reads(toml_text(word)) == word);
  // GitHub's evaluation gives the text back: its one expression is the literal of what opens one.
  auto evaluated = json_reads(workflow_text(word)).value_or("");
  for (std::size_t at = 0; (at = evaluated.find("${{ '${{' }}", at)) != std::string::npos; at += 3)
    evaluated.replace(at, 12, "${{");
  want(evaluated == word);
  return 0;
}
