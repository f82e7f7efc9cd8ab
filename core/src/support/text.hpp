#pragma once
// Small words about text: split, join, globs, nearest word.

#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

std::vector<std::string> split(std::string_view text, char separator);
/// Splits at any of `separators`, drops empty parts.
std::vector<std::string> split_words(std::string_view text, std::string_view separators = " \t\r\n");
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string trim(std::string_view text);
std::string lower(std::string_view text);
std::string replace_all(std::string text, std::string_view from, std::string_view to);
std::size_t count_of(std::string_view text, std::string_view what);
bool is_digits(std::string_view text);

/// Shell-style glob over a whole string: `*` any run, `?` one character, `[abc]` one of a set.
/// In `path` mode `*` and `?` do not cross `/`, and `**` does.
bool glob_match(std::string_view pattern, std::string_view text, bool path = false);
/// Several globs in order, `!pattern` takes away; the last that matches decides. No pattern selects nothing.
bool globs_select(const std::vector<std::string>& patterns, std::string_view text, bool path = false);

/// The closest of `words` by edit distance if it is close enough to be meant; "" otherwise.
std::string nearest_word(std::string_view word, const std::vector<std::string>& words);
/// The `count` closest, closest first.
std::vector<std::string> nearest_words(std::string_view word, std::vector<std::string> words, std::size_t count);
/// "did you mean "x"?" or "one of: a, b, c".
std::string suggestion(std::string_view word, const std::vector<std::string>& words);

}  // namespace sagekit
