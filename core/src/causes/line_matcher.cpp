#include "causes/line_matcher.hpp"

#include "support/text.hpp"

#include <re2/filtered_re2.h>
#include <re2/re2.h>

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

bool groups_with(const RE2& pattern, std::string_view text, PatternGroups& groups) {
  if (pattern.NamedCapturingGroups().empty())
    return pattern.Match(piece(text), 0, text.size(), RE2::UNANCHORED, nullptr, 0);
  std::vector<re2::StringPiece> parts(static_cast<std::size_t>(pattern.NumberOfCapturingGroups()) + 1);
  if (!pattern.Match(piece(text), 0, text.size(), RE2::UNANCHORED, parts.data(), static_cast<int>(parts.size())))
    return false;
  groups.clear();
  for (const auto& [name, index] : pattern.NamedCapturingGroups()) {
    const auto& part = parts[static_cast<std::size_t>(index)];
    if (part.data() != nullptr) groups.try_emplace(name, part.data(), part.size());
  }
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
  // "CUDA (?P<needs>..) or (?:above|newer) is required": "cuda" stands everywhere, and the longer words, one of which
  // every match has too, do not.
  std::vector<int> needed, possible;
  std::vector<std::string> others;
  for (int i = 0; i < static_cast<int>(words.size()); ++i)
    if (contains(result.needed, words[static_cast<std::size_t>(i)]))
      needed.push_back(i);
    else
      others.push_back(words[static_cast<std::size_t>(i)]);
  alone.AllPotentials(needed, &possible);
  const auto shortest = std::ranges::min_element(others, {}, &std::string::size);
  const bool one_of_others =
      possible.empty() && !others.empty() && !result.needed.empty() && shortest->size() > result.needed.front().size();
  if (one_of_others)
    words = std::move(others);
  else if (!result.needed.empty())
    words = {result.needed.front()};
  // A message may be wrapped where a word ends.
  for (auto* list : {&result.needed, &result.any})
    for (auto& word : *list)
      if (const auto inner = trim(word); inner.size() >= k_shortest_word) word = inner;
  return result;
}

}  // namespace

struct LineMatcher::Automaton {
  std::vector<Pattern> patterns;                        ///< compiled when first asked: most of a log's never are
  std::vector<std::vector<std::uint32_t>> needed;       ///< words, of each pattern
  std::vector<std::vector<std::size_t>> patterns_with;  ///< a word, by its number, that makes them candidates
  std::optional<WordFinder> finder;
};

LineMatcher::LineMatcher(const std::vector<std::string>& patterns) : m_automaton(std::make_unique<Automaton>()) {
  auto& made = *m_automaton;
  std::map<std::string, std::uint32_t> numbers;
  std::vector<std::string> words;
  const auto number_of = [&](const std::string& word) {
    const auto [place, is_new] = numbers.try_emplace(word, static_cast<std::uint32_t>(words.size()));
    if (is_new) {
      words.push_back(word);
      made.patterns_with.emplace_back();
    }
    return place->second;
  };
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    made.patterns.emplace_back(patterns[i]);
    const auto of = words_of(patterns[i]);
    for (const auto& word : of.any) made.patterns_with[number_of(word)].push_back(i);
    auto& needed = made.needed.emplace_back();
    for (const auto& word : of.needed) needed.push_back(number_of(word));
  }
  made.finder.emplace(words);
}

LineMatcher::~LineMatcher() = default;
LineMatcher::LineMatcher(LineMatcher&&) noexcept = default;

std::size_t LineMatcher::read_line(std::string_view text, std::size_t from, std::vector<WordHit>& words) const {
  return m_automaton->finder->read_line(text, from, words);
}

bool LineMatcher::is_first(std::size_t word) const { return !m_automaton->patterns_with[word].empty(); }

PatternChoice LineMatcher::choose(std::u32string_view words) const {
  std::set<std::size_t> patterns;
  for (const auto word : words)
    patterns.insert(m_automaton->patterns_with[word].begin(), m_automaton->patterns_with[word].end());
  PatternChoice choice;
  for (const auto pattern : patterns) {
    const auto& needed = m_automaton->needed[pattern];
    const auto lacking =
        std::ranges::find_if(needed, [&](auto word) { return !std::ranges::binary_search(words, word); });
    choice.candidates.push_back({pattern, lacking == needed.end() ? PatternChoice::k_nothing : *lacking});
  }
  return choice;
}

bool LineMatcher::find(std::size_t pattern, std::string_view text, PatternMatch& match) const {
  match = {pattern, text};
  return m_automaton->patterns[pattern].span(text, match.begin, match.end);
}

PatternGroups LineMatcher::groups(const PatternMatch& match) const {
  PatternGroups groups;
  m_automaton->patterns[match.pattern].find(match.text, groups);
  return groups;
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

bool Pattern::span(std::string_view text, std::size_t& begin, std::size_t& end) const {
  re2::StringPiece found;
  if (!m_compiled->get().Match(piece(text), 0, text.size(), RE2::UNANCHORED, &found, 1)) return false;
  begin = static_cast<std::size_t>(found.data() - text.data());
  end = begin + found.size();
  return true;
}

std::size_t Pattern::place(std::string_view text) const {
  std::size_t begin = 0, end = 0;
  return span(text, begin, end) ? begin : std::string_view::npos;
}

bool Pattern::find(std::string_view text, PatternGroups& groups) const {
  return groups_with(m_compiled->get(), text, groups);
}

std::size_t Pattern::prefix(std::string_view text) const {
  re2::StringPiece found;
  return m_compiled->get().Match(piece(text), 0, text.size(), RE2::ANCHOR_START, &found, 1) ? found.size() : 0;
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
