#pragma once
// All patterns at once: one automaton over the words that they cannot match without finds the lines, and only there the
// patterns whose words are on the line are tried, by RE2: time grows with the text, whatever the pattern. The one place
// that includes it.

#include "causes/word_finder.hpp"

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
  std::string_view text;  ///< in which it was found
  std::size_t begin = 0, end = 0;
};

using PatternGroups = std::map<std::string, std::string>;  ///< the named ones that took part

/// What the words of a line let match.
struct PatternChoice {
  static constexpr std::size_t k_nothing = static_cast<std::size_t>(-1);
  /// A pattern and the word that it needs and the line lacks; k_nothing when all are there.
  struct Candidate {
    std::size_t pattern = 0;
    std::size_t lacks = k_nothing;
  };
  std::vector<Candidate> candidates;  ///< by pattern
};

class LineMatcher {
 public:
  explicit LineMatcher(const std::vector<std::string>& patterns);
  ~LineMatcher();
  LineMatcher(LineMatcher&&) noexcept;
  LineMatcher& operator=(LineMatcher&&) = delete;

  /// Appends the words of the line that begins at `from`, those that patterns cannot match without. Says where it ends.
  std::size_t read_line(std::string_view text, std::size_t from, std::vector<WordHit>& words) const;
  /// Is it one that by itself makes a line worth a look?
  bool is_first(std::size_t word) const;
  /// The patterns that the words allow; `words` are numbers, sorted, each once.
  PatternChoice choose(std::u32string_view words) const;
  /// Its first match.
  bool find(std::size_t pattern, std::string_view text, PatternMatch& match) const;
  PatternGroups groups(const PatternMatch& match) const;

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
  /// Its first match. False = none.
  bool span(std::string_view text, std::size_t& begin, std::size_t& end) const;
  /// Where that begins; npos = none.
  std::size_t place(std::string_view text) const;
  /// The groups of the first match. False = none.
  bool find(std::string_view text, PatternGroups& groups) const;
  /// How many bytes at the beginning of `text` it matches; 0 = none.
  std::size_t prefix(std::string_view text) const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> m_compiled;
};

}  // namespace sagekit
