#pragma once
// All patterns at once: one automaton over the words that they cannot match without finds the lines, and only there the
// patterns whose word is on the line are tried. RE2 throughout: time grows with the text, whatever the pattern. The one
// place that includes it.

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// What is wrong with a pattern; "" = nothing. `scanned`: it must have words to look for.
std::string pattern_fault(const std::string& pattern, bool scanned);

struct PatternMatch {
  std::size_t pattern = 0;
  std::size_t begin = 0, end = 0;
  std::map<std::string, std::string> groups;  ///< the named ones that took part
};

class LineMatcher {
 public:
  explicit LineMatcher(const std::vector<std::string>& patterns);
  ~LineMatcher();
  LineMatcher(LineMatcher&&) noexcept;
  LineMatcher& operator=(LineMatcher&&) = delete;

  /// The first place at or behind `from` where a word stands that a pattern cannot match without; npos = none.
  std::size_t next(std::string_view text, std::size_t from) const;
  /// The patterns that may match in a line: one of their words stands there. In their order.
  std::vector<std::size_t> candidates(std::string_view line) const;
  /// A word, in small letters, that a pattern needs and the line lacks; "" = none.
  std::string_view lacks(std::size_t pattern, std::string_view line) const;
  /// The first match of one of them.
  bool find(std::size_t pattern, std::string_view text, PatternMatch& match) const;

 private:
  struct Automaton;
  std::unique_ptr<Automaton> m_automaton;
};

/// One pattern by itself; compiled when first asked.
class Pattern {
 public:
  explicit Pattern(std::string text);
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) = delete;

  bool empty() const;  ///< no pattern at all
  bool in(std::string_view text) const;
  /// Where its first match begins; npos = none.
  std::size_t place(std::string_view text) const;
  /// The first match with its groups; `pattern` stays 0. False = none.
  bool find(std::string_view text, PatternMatch& match) const;
  /// How many bytes at the beginning of `text` it matches; 0 = none.
  std::size_t prefix(std::string_view text) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> m_compiled;
};

/// Does one of them match?
bool any_in(const std::vector<Pattern>& patterns, std::string_view text);

}  // namespace sagekit
