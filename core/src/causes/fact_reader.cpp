#include "causes/fact_reader.hpp"

#include "causes/log_text.hpp"

namespace sagekit {

FactReader::FactReader(const std::vector<FactRow>& rows) {
  for (const auto& row : rows) {
    auto& patterns = m_rows.emplace_back(&row, std::vector<Pattern>()).second;
    for (const auto& text : row.match) patterns.emplace_back(text);
  }
}

void FactReader::read(std::string_view text, LogFacts& facts) const {
  PatternGroups groups;
  for (const auto& [row, patterns] : m_rows) {
    if (facts.contains(row->name)) continue;
    for (const auto& pattern : patterns) {
      if (!pattern.find(text, groups)) continue;
      const auto value = groups.find("value");
      facts[row->name] = value != groups.end() ? readable(value->second) : row->value;
      break;
    }
  }
}

}  // namespace sagekit
