#include "causes/word_finder.hpp"

#include <algorithm>
#include <deque>

namespace sagekit {

namespace {

constexpr std::uint8_t k_end_class = 0, k_other_class = 1;

std::uint8_t small(std::uint8_t c) { return c >= 'A' && c <= 'Z' ? static_cast<std::uint8_t>(c + 'a' - 'A') : c; }

}  // namespace

WordFinder::WordFinder(const std::vector<std::string>& words) {
  m_class_of.fill(k_other_class);
  m_class_of['\n'] = m_class_of['\v'] = k_end_class;
  m_classes = k_other_class + 1;
  for (const auto& word : words)
    for (const char c : word)
      if (auto& number = m_class_of[static_cast<std::uint8_t>(c)]; number == k_other_class)
        number = static_cast<std::uint8_t>(m_classes++);
  for (std::size_t c = 'A'; c <= 'Z'; ++c) m_class_of[c] = m_class_of[small(static_cast<std::uint8_t>(c))];

  // No state has the number 0: in the table it means a line's end.
  constexpr std::uint32_t k_first = 1;
  const auto add_state = [&] {
    m_next.resize(m_next.size() + m_classes, 0);
    m_ending.emplace_back();
    return static_cast<std::uint32_t>(m_ending.size() - 1);
  };
  add_state();
  add_state();
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    if (words[i].empty() || std::ranges::any_of(words[i], ends_line)) continue;
    std::uint32_t state = k_first;
    for (const char c : words[i]) {
      const auto at = state * m_classes + m_class_of[static_cast<std::uint8_t>(c)];
      if (m_next[at] == 0) {
        const auto made = add_state();
        m_next[at] = made;
      }
      state = m_next[at];
    }
    m_ending[state].push_back(i);
  }
  // In the order of their depth: what a state lacks is where its longest suffix goes, which is finished by then.
  std::vector<std::uint32_t> suffix(m_ending.size(), k_first);
  std::deque<std::uint32_t> waiting = {k_first};
  while (!waiting.empty()) {
    const auto state = waiting.front();
    waiting.pop_front();
    const auto& shorter = m_ending[suffix[state]];
    if (state != k_first) m_ending[state].insert(m_ending[state].end(), shorter.begin(), shorter.end());
    for (std::uint32_t c = k_other_class; c < m_classes; ++c) {
      auto& next = m_next[state * m_classes + c];
      const auto otherwise = state == k_first ? k_first : m_next[suffix[state] * m_classes + c];
      if (next == 0) {
        next = otherwise;
      } else {
        suffix[next] = otherwise;
        waiting.push_back(next);
      }
    }
  }
  for (auto& next : m_next)
    if (next != 0) next = next * m_classes | (m_ending[next].empty() ? 0 : k_hit);
}

std::size_t WordFinder::read_line(std::string_view text, std::size_t from, std::vector<WordHit>& hits) const {
  std::uint32_t state = m_classes;
  for (std::size_t i = from; i < text.size(); ++i) {
    const auto next = m_next[state + m_class_of[static_cast<std::uint8_t>(text[i])]];
    if (next == k_line_end) return i;
    state = next & ~k_hit;
    if (next == state) continue;
    for (const auto word : m_ending[state / m_classes]) hits.push_back({word, i + 1});
  }
  return text.size();
}

}  // namespace sagekit
