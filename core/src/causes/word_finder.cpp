#include "causes/word_finder.hpp"

#include <algorithm>
#include <map>

namespace sagekit {

namespace {

std::size_t slot_of(std::uint32_t four) { return (four * 2654435761U) >> 16U; }

std::uint32_t four_at(const std::string& word, std::size_t begin) {
  std::uint32_t four = 0;
  for (std::size_t i = begin; i < begin + WordFinder::k_shortest; ++i)
    four = four << 8U | static_cast<std::uint8_t>(word[i]);
  return four;
}

}  // namespace

WordFinder::WordFinder(const std::vector<std::string>& words) : m_begin(k_slots + 1), m_words(words) {
  for (std::size_t c = 0; c < m_small.size(); ++c)
    m_small[c] = static_cast<std::uint8_t>(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
  const auto can_stand = [](const std::string& word) {
    return word.size() >= k_shortest && std::ranges::none_of(word, ends_line);
  };
  std::map<std::uint32_t, std::size_t> shared;
  for (const auto& word : words)
    for (std::size_t at = 0; can_stand(word) && at + k_shortest <= word.size(); ++at) ++shared[four_at(word, at)];
  std::vector<std::pair<std::size_t, Place>> places;
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    if (!can_stand(words[i])) continue;
    std::size_t best = 0;
    for (std::size_t at = 1; at + k_shortest <= words[i].size(); ++at)
      if (shared[four_at(words[i], at)] < shared[four_at(words[i], best)]) best = at;
    places.push_back({slot_of(four_at(words[i], best)), {i, static_cast<std::uint32_t>(best + k_shortest)}});
  }
  std::ranges::stable_sort(places, {}, [](const auto& one) { return one.first; });
  for (const auto& [slot, place] : places) {
    m_taken[slot / 64] |= std::uint64_t{1} << slot % 64;
    ++m_begin[slot + 1];
    m_places.push_back(place);
  }
  for (std::size_t slot = 0; slot < k_slots; ++slot) m_begin[slot + 1] += m_begin[slot];
}

bool WordFinder::stands_at(const std::string& word, std::string_view text) const {
  return word.size() <= text.size() && std::equal(word.begin(), word.end(), text.begin(), [&](char wanted, char c) {
           return static_cast<std::uint8_t>(wanted) == m_small[static_cast<std::uint8_t>(c)];
         });
}

std::size_t WordFinder::read_line(std::string_view text, std::size_t from, std::vector<WordHit>& hits) const {
  const auto before = static_cast<std::ptrdiff_t>(hits.size());
  std::uint32_t four = 0;
  std::size_t i = from;
  for (; i < text.size() && !ends_line(text[i]); ++i) {
    four = four << 8U | m_small[static_cast<std::uint8_t>(text[i])];
    const auto slot = slot_of(four);
    if ((m_taken[slot / 64] >> slot % 64 & 1U) == 0) continue;
    for (auto k = m_begin[slot]; k < m_begin[slot + 1]; ++k) {
      const auto [word, up_to] = m_places[k];
      if (i + 1 - from < up_to) continue;
      const auto begin = i + 1 - up_to;
      if (stands_at(m_words[word], text.substr(begin))) hits.push_back({word, begin + m_words[word].size()});
    }
  }
  std::sort(hits.begin() + before, hits.end(), [&](const WordHit& one, const WordHit& other) {
    if (one.end != other.end) return one.end < other.end;
    return m_words[one.word].size() > m_words[other.word].size();
  });
  return i;
}

}  // namespace sagekit
