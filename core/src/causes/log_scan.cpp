#include "causes/log_scan.hpp"

#include "causes/log_text.hpp"
#include "support/text.hpp"

#include <algorithm>

namespace sagekit {

namespace {

constexpr std::size_t k_before = 16 << 10, k_behind = 4 << 10;  // of a line: what stands around it
constexpr std::size_t k_long_line = 8 << 10;                    // longer ones are looked at around the place
constexpr std::size_t k_longest_line = 256 << 10;               // a line without end is cut
constexpr std::size_t k_head = 64 << 10;
constexpr std::size_t k_shown = 300;
constexpr std::size_t k_events = 4096;
constexpr std::size_t k_likely = 5;
constexpr std::size_t k_fact_readings = 24;
constexpr int k_repeats = 3;
constexpr int k_prefixes = 6;
constexpr std::string_view k_line_ends = "\n\v";

std::vector<std::string> patterns_of(const CauseData& data) {
  std::vector<std::string> patterns;
  for (const auto& row : data.rows) patterns.insert(patterns.end(), row.match.begin(), row.match.end());
  patterns.insert(patterns.end(), data.likely.begin(), data.likely.end());
  return patterns;
}

std::vector<Pattern> compiled(const std::vector<std::string>& texts) {
  std::vector<Pattern> patterns;
  for (const auto& text : texts) patterns.emplace_back(text);
  return patterns;
}

/// What Markdown, UTF-8 and people can bear of a line.
std::string shown(std::string_view line) {
  auto text = readable(line.substr(0, k_shown));
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; });
  return line.size() > k_shown ? text + " ..." : text;
}

}  // namespace

CausePatterns::CausePatterns(const CauseData& from)
    : data(from),
      matcher(patterns_of(from)),
      advice(compiled(from.advice)),
      prefix("(?:" + join(from.prefixes, "|") + ")") {
  for (std::size_t i = 0; i < from.rows.size(); ++i) {
    row_of.insert(row_of.end(), from.rows[i].match.size(), i);
    near.push_back(compiled(from.rows[i].near));
    apart.push_back(compiled(from.rows[i].apart));
  }
  for (const auto& fact : from.facts) facts.emplace_back(&fact, compiled(fact.match));
}

const CausePatterns& cause_patterns() {
  static const CausePatterns k_patterns(cause_data());
  return k_patterns;
}

void LogScan::add(std::string_view text) {
  if (m_head.size() < k_head) m_head += text.substr(0, k_head - m_head.size());
  m_text += text;
  if (m_text.size() - m_scanned > k_behind) scan(false);
}

void LogScan::finish() {
  if (!m_text.empty() && m_text.back() != '\n') m_text += '\n';
  scan(true);
  read_facts(m_head, m_facts);
  read_facts(m_text, m_facts);
  m_lines =
      m_line - 1 +
      static_cast<std::size_t>(std::count(m_text.begin() + static_cast<std::ptrdiff_t>(m_counted), m_text.end(), '\n'));
}

void LogScan::scan(bool last) {
  // Only lines that have what stands behind them.
  std::size_t end = m_text.size();
  if (!last) {
    end = m_text.find_last_of(k_line_ends, m_text.size() - k_behind);
    end = end == std::string::npos ? 0 : end + 1;
    if (end <= m_scanned) {
      if (m_text.size() - m_scanned < k_longest_line) return;
      m_text.insert(m_scanned + k_longest_line / 2, 1, '\v');
      return scan(false);
    }
  }
  const auto text = std::string_view(m_text).substr(0, end);
  while (m_scanned < end) {
    const auto place = m_patterns.matcher.next(text, m_scanned);
    if (place == std::string_view::npos) break;
    const auto before = place == 0 ? std::string_view::npos : text.find_last_of(k_line_ends, place - 1);
    const std::size_t line = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t line_end = std::min(text.find_first_of(k_line_ends, place), end);
    take_line(line, line_end, place);
    m_scanned = line_end + 1;
  }
  m_scanned = end;
  // What stands before the next line stays.
  const std::size_t keep = m_scanned > k_before ? m_scanned - k_before : 0;
  const auto from = keep == 0 ? 0 : m_text.find_first_of(k_line_ends, keep) + 1;
  if (last || from == 0 || from > m_scanned) return;
  if (from > m_counted) {
    m_line += static_cast<std::size_t>(std::count(m_text.begin() + static_cast<std::ptrdiff_t>(m_counted),
                                                  m_text.begin() + static_cast<std::ptrdiff_t>(from), '\n'));
    m_counted = from;
  }
  m_text.erase(0, from);
  m_scanned -= from;
  m_counted -= from;
}

std::string_view LogScan::plain(std::string_view line) const {
  for (int i = 0; i < k_prefixes; ++i) {
    const auto cut = m_patterns.prefix.prefix(line);
    if (cut == 0) break;
    line.remove_prefix(cut);
  }
  const auto end = line.find_last_not_of(" \t\r");
  return end == std::string_view::npos ? std::string_view() : line.substr(0, end + 1);
}

std::string_view LogScan::around(std::size_t begin, std::size_t end) const {
  const std::size_t from = begin > k_before ? begin - k_before : 0;
  return std::string_view(m_text).substr(from, std::min(end + k_behind, m_text.size()) - from);
}

bool LogScan::fits(std::size_t row, std::size_t begin, std::size_t end) const {
  const auto text = around(begin, end);
  if (any_in(m_patterns.apart[row], text)) return false;
  return m_patterns.near[row].empty() || any_in(m_patterns.near[row], text) || any_in(m_patterns.near[row], m_head);
}

void LogScan::take_line(std::size_t begin, std::size_t end, std::size_t place) {
  const std::string_view text = m_text;
  const bool is_long = end - begin > k_long_line;
  if (is_long) {
    begin = std::max(begin, place > k_long_line / 4 ? place - k_long_line / 4 : 0);
    end = std::min(end, begin + k_long_line);
  }
  // Most lines with such a word have nothing else of any pattern: seen before they are cleaned.
  std::size_t third = end;
  for (int i = 0; i < 2 && third + 1 < text.size(); ++i)
    third = std::min(text.find_first_of(k_line_ends, third + 1), text.size());
  if (!is_long && !m_patterns.matcher.may_match(text.substr(begin, third - begin))) return;
  std::string window(is_long ? text.substr(begin, end - begin) : plain(text.substr(begin, end - begin)));
  const std::size_t limit = window.size();
  // Messages that were wrapped: the next two lines are read along.
  std::size_t next = end;
  for (int i = 0; i < 2 && !is_long && next + 1 < text.size(); ++i) {
    const std::size_t next_end = std::min(text.find_first_of(k_line_ends, next + 1), text.size());
    window += ' ';
    window += plain(text.substr(next + 1, std::min(next_end - next - 1, k_long_line)));
    next = next_end;
  }
  auto matches = m_patterns.matcher.match(window, limit);
  if (matches.empty()) return;
  if (m_counted < begin) {
    m_line += static_cast<std::size_t>(std::count(m_text.begin() + static_cast<std::ptrdiff_t>(m_counted),
                                                  m_text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    m_counted = begin;
  }
  const LogPlace where{m_line, shown(std::string_view(window).substr(0, limit))};
  const auto row_of = [&](const PatternMatch& match) {
    return match.pattern < m_patterns.row_of.size() ? &m_patterns.data.rows[m_patterns.row_of[match.pattern]] : nullptr;
  };
  for (const auto& match : matches)
    if (const auto* row = row_of(match); row != nullptr && row->role == LineRole::noise) {
      keep({row, where, {}, {}, m_attempt});
      return;
    }
  for (auto& match : matches) {
    if (any_in(m_patterns.advice, std::string_view(window).substr(0, match.begin))) continue;
    const auto* row = row_of(match);
    if (row == nullptr) {
      take_likely(where);
      continue;
    }
    if (!fits(m_patterns.row_of[match.pattern], begin, end)) continue;
    LineEvent event{row, where, std::move(match.groups), {}, m_attempt};
    const bool may_explain =
        row->role == LineRole::cause || row->role == LineRole::silent || row->role == LineRole::advice;
    if (may_explain && m_facts_read++ < k_fact_readings) read_facts(around(begin, end), event.facts);
    keep(std::move(event));
  }
}

void LogScan::keep(LineEvent event) {
  const auto role = event.row->role;
  if (role == LineRole::attempt) event.attempt = ++m_attempt;
  if (role == LineRole::success) ++m_success;
  // The same again says no more; a success is remembered by its last line.
  if (role == LineRole::attempt || role == LineRole::success) {
    if (!m_events.empty() && m_events.back().row == event.row && role == LineRole::success) m_events.pop_back();
  } else if (++m_seen[{event.row, m_attempt, m_success}] > k_repeats) {
    return;
  }
  if (m_seen.size() > k_events) m_seen.clear();
  if (m_events.size() < 2 * k_events) {
    m_events.push_back(std::move(event));
    return;
  }
  // The oldest half of what is too much was of attempts long over.
  m_events.erase(m_events.begin() + 1, m_events.begin() + static_cast<std::ptrdiff_t>(k_events));
  m_events.push_back(std::move(event));
}

void LogScan::take_likely(const LogPlace& where) {
  m_last_likely = where.line;
  if (m_first_likely.size() < k_likely) {
    m_first_likely.push_back(where);
    return;
  }
  if (m_newest_likely.size() == k_likely) m_newest_likely.erase(m_newest_likely.begin());
  m_newest_likely.push_back(where);
}

std::vector<LogPlace> LogScan::likeliest() const {
  auto all = m_first_likely;
  all.insert(all.end(), m_newest_likely.begin(), m_newest_likely.end());
  all.erase(std::unique(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.text == b.text; }),
            all.end());
  return all;
}

void LogScan::read_facts(std::string_view text, LogFacts& facts) const {
  PatternMatch match;
  for (const auto& [row, patterns] : m_patterns.facts) {
    if (facts.contains(row->name)) continue;
    for (const auto& pattern : patterns) {
      if (!pattern.find(text, match)) continue;
      const auto value = match.groups.find("value");
      facts[row->name] = value != match.groups.end() ? readable(value->second) : row->value;
      break;
    }
  }
}

}  // namespace sagekit
