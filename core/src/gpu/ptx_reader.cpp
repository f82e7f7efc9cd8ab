#include "gpu/ptx_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace sagekit {

namespace {

constexpr std::string_view k_blanks = " \t\r\n\f\v";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%';
}

/// Where `text` has a comment, a quote or the beginning of ".entry", at or after `at`; its end when nowhere. Nearly all
/// of a text is none of these, so it is looked at in blocks, which compilers turn into a few wide comparisons.
std::size_t next_of_note(std::string_view text, std::size_t at) {
  constexpr std::size_t block = 64;
  const auto noted = [](char c, char second, char third) {
    return static_cast<std::uint8_t>((c == '/') | (c == '"') | ((c == '.') & (second == 'e') & (third == 'n')));
  };
  while (at + block + 2 <= text.size()) {
    const char* const bytes = text.data() + at;
    std::uint8_t hit = 0;  // not a bool: that would be one comparison at a time
    for (std::size_t i = 0; i < block; ++i) hit |= noted(bytes[i], bytes[i + 1], bytes[i + 2]);
    if (hit != 0) break;
    at += block;
  }
  const auto byte = [&](std::size_t i) { return i < text.size() ? text[i] : '\0'; };
  while (at < text.size() && !noted(byte(at), byte(at + 1), byte(at + 2))) ++at;
  return at;
}

/// Walks over directives (".version", ".entry", ...), past comments and quoted text.
class PtxScanner {
 public:
  explicit PtxScanner(std::string_view text) : m_text(text.substr(0, text.find('\0'))) {}

  /// The next directive, without its dot; empty at the end.
  std::string_view next_directive() {
    while ((m_at = m_text.find_first_of("/\".", m_at)) != std::string_view::npos)
      if (const auto name = directive(); !name.empty()) return name;
    return {};
  }

  /// Goes to what follows the next ".entry"; false at the end.
  bool next_entry() {
    while ((m_at = next_of_note(m_text, m_at)) < m_text.size())
      if (directive() == "entry") return true;
    return false;
  }

  /// The text up to the next of `ends` or a blank, after blanks and comments.
  std::string_view argument(std::string_view ends) {
    while (m_at < m_text.size()) {
      m_at = std::min(m_text.find_first_not_of(k_blanks, m_at), m_text.size());
      const std::size_t before = m_at;
      if (m_at < m_text.size() && m_text[m_at] == '/') skip_comment_or_quote();
      if (m_at == before || m_text[before] != '/') break;
    }
    const std::size_t begin = m_at;
    while (m_at < m_text.size() && !ends.contains(m_text[m_at]) && !k_blanks.contains(m_text[m_at])) ++m_at;
    return m_text.substr(begin, m_at - begin);
  }

 private:
  /// The directive that begins here, without its dot; empty for what is none, which is passed.
  std::string_view directive() {
    if (m_text[m_at] != '.') {
      skip_comment_or_quote();
      return {};
    }
    const bool starts_word = m_at == 0 || !is_word(m_text[m_at - 1]);
    ++m_at;
    return starts_word ? word() : std::string_view{};
  }

  std::string_view word() {
    const std::size_t begin = m_at;
    while (m_at < m_text.size() && is_word(m_text[m_at])) ++m_at;
    return m_text.substr(begin, m_at - begin);
  }

  void skip_comment_or_quote() {
    const std::string_view rest = m_text.substr(m_at);
    const std::string_view end = rest.starts_with("//")   ? "\n"
                                 : rest.starts_with("/*") ? "*/"
                                 : rest.starts_with('"')  ? "\""
                                                          : "";
    const std::size_t from = rest.starts_with('"') ? 1 : 2;
    if (end.empty()) {
      ++m_at;
      return;
    }
    const std::size_t found = rest.find(end, from);
    m_at = found == std::string_view::npos ? m_text.size() : m_at + found + end.size();
  }

  std::string_view m_text;
  std::size_t m_at = 0;
};

bool read_number(std::string_view text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= 0 && value < 1000;
}

bool read_target(std::string_view text, Arch& target) {
  if (!text.starts_with("sm_")) return false;
  text.remove_prefix(3);
  Arch arch;
  if (text.ends_with('a')) arch.suffix = ArchSuffix::a;
  if (text.ends_with('f')) arch.suffix = ArchSuffix::f;
  if (arch.suffix != ArchSuffix::none) text.remove_suffix(1);
  int number = 0;
  if (!read_number(text, number) || number < 10) return false;
  arch.capability = {number / 10, number % 10};
  target = arch;
  return true;
}

bool read_version(std::string_view text, PtxFacts& facts) {
  const std::size_t dot = text.find('.');
  return dot != std::string_view::npos && read_number(text.substr(0, dot), facts.version_major) &&
         read_number(text.substr(dot + 1), facts.version_minor);
}

}  // namespace

bool looks_like_ptx(std::string_view text) {
  // Directives stand at the top after comments; anything else before the first dot means this is no PTX.
  const std::size_t first = text.find_first_not_of(k_blanks);
  if (first == std::string_view::npos || (text[first] != '/' && text[first] != '.')) return false;
  return PtxScanner(text).next_directive() == "version";
}

std::optional<PtxFacts> read_ptx(std::string_view text, bool kernels) {
  PtxFacts facts;
  PtxScanner scanner(text);
  bool version = false;
  bool target = false;
  while (!version || !target) {
    const std::string_view directive = scanner.next_directive();
    if (directive.empty()) break;
    if (directive == "version" && !version)
      version = read_version(scanner.argument(",;"), facts);
    else if (directive == "target" && !target)
      target = read_target(scanner.argument(",;"), facts.arch);
    else if (directive == "entry") {
      const std::string_view name = scanner.argument("(;{");  // read in any case: what follows must not depend on it
      if (kernels) facts.kernels.emplace_back(name);
    }
  }
  if (!version || !target) return std::nullopt;
  while (kernels && scanner.next_entry()) facts.kernels.emplace_back(scanner.argument("(;{"));
  return facts;
}

}  // namespace sagekit
