#pragma once
// Every place of every word in a line, in one pass: four letters of each word, those that the fewest words share, are
// looked for by their number, and only there words are compared. What is read at each byte is 8 KB; an automaton of the
// same words (Aho and Corasick) has megabytes, and waits for memory (bench/explain_bench.py, "dense").

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
  static constexpr std::size_t k_shortest = 4;

  /// Words in small letters, found in any. One that is shorter, or has a line's end, is never found.
  explicit WordFinder(const std::vector<std::string>& words);

  /// Appends the words of the line that begins at `from`, by where they end, longer ones first. Says where the line
  /// ends.
  std::size_t read_line(std::string_view text, std::size_t from, std::vector<WordHit>& hits) const;

 private:
  static constexpr std::size_t k_slots = 1U << 16U;

  struct Place {
    std::uint32_t word = 0, up_to = 0;  ///< letters of it up to the end of the four
  };

  bool stands_at(const std::string& word, std::string_view text) const;

  std::array<std::uint8_t, 256> m_small = {};
  std::array<std::uint64_t, k_slots / 64> m_taken = {};  ///< has the slot places?
  std::vector<std::uint32_t> m_begin;                    ///< of its places
  std::vector<Place> m_places;
  std::vector<std::string> m_words;
};

}  // namespace sagekit
