#pragma once
// Every place of every word in a line, in one pass (Aho and Corasick, CACM 18, 1975). RE2's set over the same words
// costs ten times as much a line, and a log of failures has a word in each (bench/explain_bench.py, "dense").

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

struct WordHit {
  std::uint32_t word = 0;  ///< its number
  std::size_t end = 0;     ///< in the text
};

/// Lines of a log end in '\n', and in the '\v' of what was written over.
inline bool ends_line(char c) { return c == '\n' || c == '\v'; }

class WordFinder {
 public:
  /// Words in small letters, found in any. One with a line's end is never found.
  explicit WordFinder(const std::vector<std::string>& words);

  /// Appends the words of the line that begins at `from`, by where they end. Says where the line ends.
  std::size_t read_line(std::string_view text, std::size_t from, std::vector<WordHit>& hits) const;

 private:
  static constexpr std::uint32_t k_line_end = 0;     ///< in the table: no state has that number
  static constexpr std::uint32_t k_hit = 1U << 31U;  ///< in the table: words end in that state

  std::array<std::uint8_t, 256> m_class_of = {};  ///< of a byte: bytes that no word has are one class
  std::uint32_t m_classes = 0;
  std::vector<std::uint32_t> m_next;                 ///< by state * m_classes + class: such a product, and k_hit
  std::vector<std::vector<std::uint32_t>> m_ending;  ///< by state: the words that end there
};

}  // namespace sagekit
