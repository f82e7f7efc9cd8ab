#pragma once
// Small words about text: split, join, globs; and the nearest right word of <sagekit/nearest.hpp>.

#include <sagekit/nearest.hpp>

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
/// What stands behind the last `mark`; all of it when there is none.
std::string after_last(std::string_view text, char mark);
std::string without_dots(std::string_view version);   ///< "12.8" as names have it: "128"
std::string without_patch(std::string_view version);  ///< the first two numbers: "2.11" of "2.11.0"
int leading_number(std::string_view text);            ///< 12 of "12.8"; -1 when it begins with none
std::size_t count_of(std::string_view text, std::string_view what);
bool is_digits(std::string_view text);
bool contains(const std::vector<std::string>& words, std::string_view word);
/// ASCII only.
bool is_letter_or_digit(char c);
/// 43 of "%2B..."; -1 when the text does not begin with an escaped byte.
int escaped_byte(std::string_view text);

/// Shell-style glob over a whole string: `*` any run, `?` one character, `[abc]` one of a set.
/// In `path` mode `*` and `?` do not cross `/`, and `**` does.
bool glob_match(std::string_view pattern, std::string_view text, bool path = false);
/// Several globs in order, `!pattern` takes away; the last that matches decides. No pattern selects nothing.
bool globs_select(const std::vector<std::string>& patterns, std::string_view text, bool path = false);

}  // namespace sagekit
