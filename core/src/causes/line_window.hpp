#pragma once
// The line that is being read and those behind it: a message may be wrapped, and each line is read once.

#include "causes/line_matcher.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace sagekit {

class LineWindow {
 public:
  struct Line {
    std::size_t begin = 0, end = 0;         ///< in the text
    std::vector<WordHit> words;             ///< that patterns cannot match without
    std::optional<std::string_view> plain;  ///< without what carried it, once asked for
  };
  static constexpr std::size_t k_lines = 3;

  explicit LineWindow(const LineMatcher& matcher) : m_matcher(matcher) {}

  /// The line that begins at `from` is the first now. The text must stay where it is until the next start.
  void start(std::string_view text, std::size_t from);
  /// The first line, and up to two behind it; nullptr when the text is over.
  Line* at(std::size_t number);
  /// The next line is the first.
  void step();

 private:
  const LineMatcher& m_matcher;
  std::string_view m_text;
  std::array<Line, k_lines> m_lines;  ///< a ring
  std::size_t m_first = 0, m_count = 0, m_next = 0;
};

}  // namespace sagekit
