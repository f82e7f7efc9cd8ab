#include "causes/installing.hpp"

#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace {

constexpr std::string_view k_editable = "--editable=";

/// Does the shell read on, and pip no longer?
bool ends_command(std::string_view word) {
  return word.find_first_of("|;&>") == 0 || word.starts_with("2>") || word.starts_with("1>");
}

/// Without the quotes around it, and without what a shell would take for a file: the project of "flash-attn>=2.7".
std::string bare(std::string_view word) {
  if (word.size() > 1 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front())
    word = word.substr(1, word.size() - 2);
  return std::string(word.substr(0, word.find_first_of("<>!;")));
}

/// "flash_attn" and "Flash-Attn.git" have the same ones.
std::string letters(std::string_view text) {
  auto result = lower(text);
  std::erase_if(result, [](char c) { return c == '-' || c == '_' || c == '.'; });
  return result;
}

bool is_name(std::string_view target) { return target.find_first_of("/\\:") == std::string_view::npos; }

}  // namespace

void Installing::start() {
  m_asked.clear();
  m_taken.clear();
  m_building.clear();
}

std::string Installing::asked(std::string_view arguments) const {
  std::vector<std::string> targets;
  const auto words = split_words(arguments);
  for (std::size_t i = 0; i < words.size() && !ends_command(words[i]); ++i) {
    const bool is_editable = words[i] == "-e" || words[i] == "--editable";
    if (words[i].starts_with(k_editable) || (is_editable && i + 1 < words.size()))
      targets.push_back(std::string(k_editable) + bare(is_editable ? words[++i] : words[i].substr(k_editable.size())));
    else if (contains(m_pip_values, words[i]))
      ++i;
    else if (!words[i].starts_with('-'))
      targets.push_back(bare(words[i]));
  }
  return targets.size() == 1 ? targets.front() : std::string();
}

void Installing::take(const PatternGroups& groups) {
  for (const auto& [name, text] : groups) {
    if (name == "arguments") m_asked = asked(text);
    if (name == "installing") m_taken.push_back(text);
    if (name == "editable") m_taken.push_back(std::string(k_editable) + text);
    m_building = name == "building" ? text : std::string();
  }
}

std::string Installing::what() const {
  if (m_building.empty())  // what was asked for comes first, and then what it needs
    return m_taken.empty() || (m_taken.size() == 1 && !m_asked.empty()) ? m_asked : m_taken.back();
  const auto name = letters(m_building);
  for (auto target = m_taken.rbegin(); target != m_taken.rend(); ++target)
    if (letters(*target).find(name) != std::string::npos) return *target;
  if (!m_asked.empty()) return m_asked;
  const auto is_source = [](const auto& target) { return !is_name(target); };
  return std::ranges::count_if(m_taken, is_source) == 1 ? *std::ranges::find_if(m_taken, is_source) : m_building;
}

}  // namespace sagekit
