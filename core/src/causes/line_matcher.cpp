#include "causes/line_matcher.hpp"

#include "support/text.hpp"

#include <re2/filtered_re2.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>

namespace sagekit {

namespace {

constexpr std::int64_t k_memory = 12 << 20;  // of an automaton's states; they are made anew when it is full
constexpr int k_shortest_word = 4;           // shorter words stand everywhere

/// Latin-1: a byte is a character, so that text in a code page, or damaged, is no obstacle.
RE2::Options options() {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  options.set_max_mem(k_memory);
  return options;
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

std::map<std::string, std::string> groups_of(const RE2& pattern, const std::vector<re2::StringPiece>& parts) {
  std::map<std::string, std::string> groups;
  for (const auto& [name, index] : pattern.NamedCapturingGroups()) {
    const auto& part = parts[static_cast<std::size_t>(index)];
    if (part.data() != nullptr) groups.try_emplace(name, part.data(), part.size());
  }
  return groups;
}

bool find_with(const RE2& pattern, std::string_view text, PatternMatch& match) {
  std::vector<re2::StringPiece> parts(static_cast<std::size_t>(pattern.NumberOfCapturingGroups()) + 1);
  if (!pattern.Match(piece(text), 0, text.size(), RE2::UNANCHORED, parts.data(), static_cast<int>(parts.size())))
    return false;
  match.begin = static_cast<std::size_t>(parts[0].data() - text.data());
  match.end = match.begin + parts[0].size();
  match.groups = groups_of(pattern, parts);
  return true;
}

struct PatternWords {
  std::vector<std::string> needed;  ///< every match has each of them; longest first
  std::vector<std::string> any;     ///< every match has one of them
};

PatternWords words_of(const std::string& pattern) {
  re2::FilteredRE2 alone(k_shortest_word);
  int id = 0;
  PatternWords result;
  auto& words = result.any;
  if (alone.Add(pattern, options(), &id) != RE2::NoError) return {};
  alone.Compile(&words);
  std::vector<int> order(words.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, std::greater(), [&](int i) { return words[static_cast<std::size_t>(i)].size(); });
  for (const int without : order) {
    std::vector<int> others, possible;
    for (int i = 0; i < static_cast<int>(words.size()); ++i)
      if (i != without) others.push_back(i);
    alone.AllPotentials(others, &possible);
    if (possible.empty()) result.needed.push_back(words[static_cast<std::size_t>(without)]);
  }
  if (!result.needed.empty()) words = {result.needed.front()};
  // A message may be wrapped where a word ends.
  for (auto* list : {&result.needed, &result.any})
    for (auto& word : *list)
      if (const auto inner = trim(word); inner.size() >= k_shortest_word) word = inner;
  return result;
}

}  // namespace

struct LineMatcher::Automaton {
  std::vector<std::unique_ptr<RE2>> patterns;
  std::vector<std::vector<std::string>> needed;         ///< words, of each pattern
  std::optional<RE2> any;                               ///< one of the words
  std::optional<RE2::Set> words;                        ///< which of them
  std::vector<std::vector<std::size_t>> patterns_with;  ///< a word, by its number
};

LineMatcher::LineMatcher(const std::vector<std::string>& patterns) : m_automaton(std::make_unique<Automaton>()) {
  std::map<std::string, std::vector<std::size_t>> patterns_with;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    m_automaton->patterns.push_back(std::make_unique<RE2>(patterns[i], options()));
    auto words = words_of(patterns[i]);
    for (const auto& word : words.any) patterns_with[word].push_back(i);
    m_automaton->needed.push_back(std::move(words.needed));
  }
  RE2::Options literal = options();
  literal.set_case_sensitive(false);
  std::string any;
  for (const auto& [word, with] : patterns_with) any += (any.empty() ? "" : "|") + RE2::QuoteMeta(word);
  if (any.empty()) any = "[^\\x00-\\xff]";
  m_automaton->any.emplace(any, literal);
  literal.set_literal(true);
  m_automaton->words.emplace(literal, RE2::UNANCHORED);
  for (auto& [word, with] : patterns_with) {
    m_automaton->words->Add(word, nullptr);
    m_automaton->patterns_with.push_back(std::move(with));
  }
  m_automaton->words->Compile();
}

LineMatcher::~LineMatcher() = default;
LineMatcher::LineMatcher(LineMatcher&&) noexcept = default;

std::size_t LineMatcher::next(std::string_view text, std::size_t from) const {
  re2::StringPiece found;
  if (from >= text.size() || !m_automaton->any->Match(piece(text), from, text.size(), RE2::UNANCHORED, &found, 1))
    return std::string_view::npos;
  return static_cast<std::size_t>(found.data() - text.data());
}

std::vector<std::size_t> LineMatcher::candidates(std::string_view line) const {
  std::vector<int> words;
  std::vector<std::size_t> patterns;
  if (!m_automaton->words->Match(piece(line), &words)) return patterns;
  for (const int word : words) {
    const auto& with = m_automaton->patterns_with[static_cast<std::size_t>(word)];
    patterns.insert(patterns.end(), with.begin(), with.end());
  }
  std::ranges::sort(patterns);
  patterns.erase(std::unique(patterns.begin(), patterns.end()), patterns.end());
  return patterns;
}

std::string_view LineMatcher::lacks(std::size_t pattern, std::string_view line) const {
  const auto text = lower(line);
  for (const auto& word : m_automaton->needed[pattern])
    if (text.find(word) == std::string::npos) return word;
  return {};
}

bool LineMatcher::find(std::size_t pattern, std::string_view text, PatternMatch& match) const {
  match.pattern = pattern;
  return find_with(*m_automaton->patterns[pattern], text, match);
}

struct Pattern::Compiled {
  std::string text;
  std::optional<RE2> pattern = {};
  std::once_flag once = {};

  const RE2& get() {
    std::call_once(once, [&] { pattern.emplace(text, options()); });
    return *pattern;
  }
};

Pattern::Pattern(std::string text) : m_compiled(new Compiled{std::move(text)}) {}
Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;

bool Pattern::empty() const { return m_compiled->text.empty(); }

bool Pattern::in(std::string_view text) const { return RE2::PartialMatch(piece(text), m_compiled->get()); }

std::size_t Pattern::place(std::string_view text) const {
  re2::StringPiece found;
  return m_compiled->get().Match(piece(text), 0, text.size(), RE2::UNANCHORED, &found, 1)
             ? static_cast<std::size_t>(found.data() - text.data())
             : std::string_view::npos;
}

bool Pattern::find(std::string_view text, PatternMatch& match) const {
  return find_with(m_compiled->get(), text, match);
}

std::size_t Pattern::prefix(std::string_view text) const {
  re2::StringPiece found;
  return m_compiled->get().Match(piece(text), 0, text.size(), RE2::ANCHOR_START, &found, 1) ? found.size() : 0;
}

bool any_in(const std::vector<Pattern>& patterns, std::string_view text) {
  return std::ranges::any_of(patterns, [&](const Pattern& pattern) { return pattern.in(text); });
}

std::string pattern_fault(const std::string& pattern, bool scanned) {
  const RE2 compiled(pattern, options());
  if (!compiled.ok()) return compiled.error();
  if (!scanned) return {};
  re2::FilteredRE2 filtered(k_shortest_word);
  int id = 0;
  std::vector<std::string> words;
  filtered.Add(pattern, options(), &id);
  filtered.Compile(&words);
  return words.empty() ? "no word of four letters that every match has: it would be tried everywhere" : "";
}

}  // namespace sagekit
