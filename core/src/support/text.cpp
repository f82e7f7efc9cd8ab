#include "support/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>
#include <utility>

namespace sagekit {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (;;) {
    const std::size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end == std::string_view::npos ? end : end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::vector<std::string> split_words(std::string_view text, std::string_view separators) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(separators, at)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const auto& part : parts) {
    if (&part != parts.data()) text += separator;
    text += part;
  }
  return text;
}

std::string without_dots(std::string_view version) { return replace_all(std::string(version), ".", ""); }

std::string trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

std::string after_last(std::string_view text, char mark) { return std::string(text.substr(text.rfind(mark) + 1)); }

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  auto found = from.empty() ? std::string::npos : text.find(from);
  if (found == std::string::npos) return text;
  // Put together anew: replacing in place moves the rest each time, which takes minutes for a preprocessed unit.
  std::string result;
  result.reserve(text.size());
  std::size_t from_here = 0;
  for (; found != std::string::npos; found = text.find(from, from_here)) {
    result.append(text, from_here, found - from_here).append(to);
    from_here = found + from.size();
  }
  return result.append(text, from_here, std::string::npos);
}

std::string without_patch(std::string_view version) {
  const auto first = version.find('.');
  return std::string(first == version.npos ? version : version.substr(0, version.find('.', first + 1)));
}

int leading_number(std::string_view text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

int escaped_byte(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
  };
  if (text.size() < 3 || text[0] != '%') return -1;
  const int high = digit(text[1]), low = digit(text[2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  if (what.empty()) return 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; at += what.size()) ++count;
  return count;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_letter_or_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

namespace {

// Matches one "[...]" set at pattern[0]; advances `length` past it. A set without its bracket is a literal '['.
bool set_match(std::string_view pattern, char c, std::size_t& length) {
  const std::size_t close = pattern.find(']', 2);
  if (close == std::string_view::npos) {
    length = 1;
    return c == '[';
  }
  length = close + 1;
  return pattern.substr(1, close - 1).find(c) != std::string_view::npos;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text, bool path) {
  // Iterative with one backtrack point per kind of star: `*` inside a path part, `**` (or any `*`) across them.
  std::size_t p = 0, t = 0;
  constexpr auto none = std::string_view::npos;
  std::size_t star_p = none, star_t = 0, deep_p = none, deep_t = 0;
  while (t < text.size() || p < pattern.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      const bool deep = !path || (p + 1 < pattern.size() && pattern[p + 1] == '*');
      p += path && deep ? 2 : 1;
      if (deep) {
        if (path && p < pattern.size() && pattern[p] == '/') ++p;  // `**/x` also matches `x`
        deep_p = p, deep_t = t, star_p = none;
      } else {
        star_p = p, star_t = t;
      }
      continue;
    }
    if (t < text.size() && p < pattern.size()) {
      std::size_t length = 1;
      const bool same = pattern[p] == '?'   ? !(path && text[t] == '/')
                        : pattern[p] == '[' ? set_match(pattern.substr(p), text[t], length)
                                            : pattern[p] == text[t];
      if (same) {
        p += length, ++t;
        continue;
      }
    }
    if (star_p != none && star_t < text.size() && text[star_t] != '/') {
      p = star_p, t = ++star_t;
    } else if (deep_p != none && deep_t < text.size()) {
      p = deep_p, t = ++deep_t, star_p = none;
    } else {
      return false;
    }
  }
  return true;
}

bool globs_select(const std::vector<std::string>& patterns, std::string_view text, bool path) {
  bool selected = !patterns.empty() && patterns.front().starts_with('!');
  for (std::string_view pattern : patterns) {
    const bool negative = pattern.starts_with('!');
    if (negative) pattern.remove_prefix(1);
    if (glob_match(pattern, text, path)) selected = !negative;
  }
  return selected;
}

namespace {

/// Insertions, deletions, changes, and neighbours that changed places.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j - 1] + (a[i - 1] != b[j - 1]), last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, row);
  }
  return last.back();
}

}  // namespace

std::vector<std::string> nearest_words(std::string_view word, std::vector<std::string> words, std::size_t count) {
  const std::string key = lower(word);
  std::ranges::stable_sort(words, {}, [&](const std::string& w) { return edit_distance(key, lower(w)); });
  if (words.size() > count) words.resize(count);
  return words;
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& words) {
  const auto nearest = nearest_words(word, words, 1);
  if (nearest.empty()) return {};
  const std::size_t distance = edit_distance(lower(word), lower(nearest[0]));
  return distance <= std::max<std::size_t>(1, std::min(word.size(), nearest[0].size()) / 3) ? nearest[0]
                                                                                            : std::string{};
}

std::string suggestion(std::string_view word, const std::vector<std::string>& words) {
  if (const auto near = nearest_word(word, words); !near.empty()) return "did you mean \"" + near + "\"?";
  return words.empty() ? std::string{} : "one of: " + join(words, ", ");
}

}  // namespace sagekit
