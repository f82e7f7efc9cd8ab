#include "verify/claims/python_text.hpp"

#include <map>
#include <optional>

namespace sagekit {

namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Walks logical lines: strings, comments and open brackets never start one.
class LogicalLines {
 public:
  explicit LogicalLines(std::string_view source) : m_source(source) {
    if (m_source.starts_with("\xEF\xBB\xBF")) m_source.remove_prefix(3);
  }

  struct Line {
    std::string_view text;  ///< from its first column to its last physical end
    int number = 0;
  };

  std::optional<Line> next() {
    if (m_at >= m_source.size()) return std::nullopt;
    const std::size_t begin = m_at;
    const int number = m_number;
    int open = 0;
    while (m_at < m_source.size()) {
      const char c = m_source[m_at];
      if (c == '\n') {
        ++m_at, ++m_number;
        if (open <= 0) break;
      } else if (c == '\\') {
        skip_escaped();
      } else if (c == '#') {
        while (m_at < m_source.size() && m_source[m_at] != '\n') ++m_at;
      } else if (c == '"' || c == '\'') {
        skip_string(c);
      } else {
        open += c == '(' || c == '[' || c == '{';
        open -= c == ')' || c == ']' || c == '}';
        ++m_at;
      }
    }
    return Line{m_source.substr(begin, m_at - begin), number};
  }

 private:
  void skip_escaped() {
    ++m_at;
    if (m_at < m_source.size() && m_source[m_at] == '\r') ++m_at;
    if (m_at >= m_source.size()) return;
    m_number += m_source[m_at] == '\n';
    ++m_at;
  }
  // In a raw string a backslash keeps the quote after it from ending the string, too.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool triple = m_source.substr(m_at).starts_with(three);
    m_at += triple ? 3 : 1;
    while (m_at < m_source.size()) {
      const char c = m_source[m_at];
      if (c == '\\') {
        skip_escaped();
      } else if (triple && m_source.substr(m_at).starts_with(three)) {
        m_at += 3;
        return;
      } else if (!triple && (c == quote || c == '\n')) {
        m_at += c == quote;
        return;
      } else {
        m_number += c == '\n';
        ++m_at;
      }
    }
  }

  std::string_view m_source;
  std::size_t m_at = 0;
  int m_number = 1;
};

void skip_blanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word) || text.size() == word.size()) return false;
  if (text[word.size()] != ' ' && text[word.size()] != '\t') return false;
  text.remove_prefix(word.size());
  skip_blanks(text);
  return true;
}

std::string defined_name(std::string_view line) {
  take_word(line, "async");
  if (!take_word(line, "def")) return {};
  std::size_t size = 0;
  while (size < line.size() && is_name_character(line[size])) ++size;
  return std::string(line.substr(0, size));
}

bool is_overload(std::string_view decorator) {
  decorator = decorator.substr(0, decorator.find_first_of(" \t\r\n(#"));
  return decorator == "@overload" || decorator.ends_with(".overload");
}

}  // namespace

std::vector<DuplicateDef> duplicate_defs(std::string_view source) {
  std::vector<DuplicateDef> found;
  std::map<std::string, int> first;
  bool overload = false;
  LogicalLines lines(source);
  while (const auto line = lines.next()) {
    if (line->text.starts_with('@')) {
      overload = overload || is_overload(line->text);
      continue;
    }
    const std::string name = defined_name(line->text);
    if (!name.empty() && name != "_" && !overload) {
      const auto [before, is_new] = first.emplace(name, line->number);
      if (!is_new) found.push_back({name, before->second, line->number});
    }
    // Blank and comment lines may stand between a decorator and its function.
    const char c = line->text.front();
    if (c != '\n' && c != '\r' && c != '#' && c != ' ') overload = false;
  }
  return found;
}

}  // namespace sagekit
