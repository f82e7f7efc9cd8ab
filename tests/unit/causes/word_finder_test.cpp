#include "causes/word_finder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace sagekit;

namespace {

/// "word@end" of each place, and behind a bar where the line ends.
std::string found_in(const std::vector<std::string>& words, std::string_view text, std::size_t from = 0) {
  std::vector<WordHit> hits;
  const auto end = WordFinder(words).read_line(text, from, hits);
  std::string all;
  for (const auto& hit : hits) all += words[hit.word] + "@" + std::to_string(hit.end) + " ";
  return all + "|" + std::to_string(end);
}

}  // namespace

TEST_CASE("words are found in any letters, within each other and over each other") {
  CHECK(found_in({"rror", "error", "or"}, "An ERROR.") == "error@8 rror@8 |9");  // two letters are no word
  CHECK(found_in({"abab"}, "ababab") == "abab@4 abab@6 |6");
  CHECK(found_in({"abcdef", "bcdx"}, "abcdx abcde") == "bcdx@5 |11");  // what was begun goes on as another word
  CHECK(found_in({"undefined symbol", "symbol"}, "undefined symbols") == "undefined symbol@16 symbol@16 |17");
  CHECK(found_in({"killed"}, "d kille", 0) == "|7");
  CHECK(found_in({}, "abc") == "|3");
  CHECK(found_in({"", "a\nb"}, "a\nb") == "|1");
}

TEST_CASE("a line ends where it ends, and the next begins afresh") {
  CHECK(found_in({"killed"}, "kil\nled killed", 0) == "|3");
  CHECK(found_in({"killed"}, "kil\nled killed", 4) == "killed@14 |14");
  CHECK(found_in({"killed"}, "x\vkilled", 0) == "|1");
}

TEST_CASE("every byte can stand in a word") {
  std::string all;
  for (int c = 0; c < 256; ++c)
    if (c != '\n' && c != '\v' && (c < 'A' || c > 'Z')) all += static_cast<char>(c);
  CHECK(found_in({all}, "x" + all + "y").substr(all.size()) ==
        "@" + std::to_string(all.size() + 1) + " |" + std::to_string(all.size() + 2));
}
