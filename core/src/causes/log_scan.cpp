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
constexpr std::size_t k_noted_lines = 4096, k_noted_line = 1 << 10;  // kept, and no longer than that
constexpr std::size_t k_overlap = 512;  // of what is looked through for words around a line
constexpr std::size_t k_fact_readings = 24;
constexpr int k_repeats = 3;
constexpr int k_prefixes = 6;

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

bool ends_line(char c) { return c == '\n' || c == '\v'; }

/// The first end of a line at or behind `from`; the text's end when there is none.
std::size_t line_end(std::string_view text, std::size_t from) {
  while (from < text.size() && !ends_line(text[from])) ++from;
  return std::min(from, text.size());
}

/// Where the line that has `place` begins.
std::size_t line_begin(std::string_view text, std::size_t place) {
  while (place > 0 && !ends_line(text[place - 1])) --place;
  return place;
}

std::string one_of(const std::vector<std::string>& patterns) {
  return patterns.empty() ? std::string() : "(?:" + join(patterns, ")|(?:") + ")";
}

/// What Markdown, UTF-8 and people can bear of a line.
std::string shown(std::string_view line) {
  auto text = readable(line.substr(0, k_shown));
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; });
  return line.size() > k_shown ? text + " ..." : text;
}

}  // namespace

CausePatterns::CausePatterns(const CauseData& from)
    : data(from), matcher(patterns_of(from)), advice(compiled(from.advice)), prefix(one_of(from.prefixes)) {
  for (std::size_t i = 0; i < from.rows.size(); ++i) {
    row_of.insert(row_of.end(), from.rows[i].match.size(), i);
    near.emplace_back(one_of(from.rows[i].near));
    apart.emplace_back(one_of(from.rows[i].apart));
  }
  for (const auto& fact : from.facts) facts.emplace_back(&fact, compiled(fact.match));
}

const CausePatterns& cause_patterns() {
  static const CausePatterns k_patterns(cause_data());
  return k_patterns;
}

LogScan::LogScan(const CausePatterns& patterns)
    : m_patterns(patterns),
      m_near(patterns.near.size()),
      m_apart(patterns.near.size()),
      m_in_head(patterns.near.size(), -1),
      m_seen(patterns.near.size()) {}

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
    end = line_begin(m_text, m_text.size() - k_behind);
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
    const auto ends = line_end(text, place);
    take_line(line_begin(text, place), ends, place);
    m_scanned = ends + 1;
  }
  m_scanned = end;
  // What stands before the next line stays.
  const std::size_t keep = m_scanned > k_before ? m_scanned - k_before : 0;
  const auto from = keep == 0 ? 0 : line_end(m_text, keep) + 1;
  if (last || from == 0 || from > m_scanned) return;
  if (from > m_counted) {
    m_line += static_cast<std::size_t>(std::count(m_text.begin() + static_cast<std::ptrdiff_t>(m_counted),
                                                  m_text.begin() + static_cast<std::ptrdiff_t>(from), '\n'));
    m_counted = from;
  }
  m_text.erase(0, from);
  m_gone += from;
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

/// Does the pattern match around the line? What was looked through for a line before is not looked through again.
bool LogScan::near_by(const Pattern& pattern, Sought& sought, std::size_t begin, std::size_t end) const {
  const auto text = around(begin, end);
  const std::size_t first = m_gone + static_cast<std::size_t>(text.data() - m_text.data());
  if (sought.found != std::string::npos && sought.found >= first) return true;
  const auto from =
      sought.up_to > first + k_overlap ? std::min(sought.up_to - k_overlap - first, text.size()) : std::size_t{0};
  const auto place = pattern.place(text.substr(from));
  const bool found = place != std::string_view::npos;
  sought.up_to = found ? first + from + place : first + text.size();
  if (found) sought.found = sought.up_to;
  return found;
}

bool LogScan::in_head(std::size_t row) {
  if (m_in_head[row] >= 0) return m_in_head[row] > 0;
  const bool found = m_patterns.near[row].in(m_head);
  if (found || m_head.size() >= k_head) m_in_head[row] = found ? 1 : 0;
  return found;
}

bool LogScan::fits(std::size_t row, std::size_t begin, std::size_t end) {
  const auto &near = m_patterns.near[row], &apart = m_patterns.apart[row];
  if (!apart.empty() && near_by(apart, m_apart[row], begin, end)) return false;
  return near.empty() || near_by(near, m_near[row], begin, end) || in_head(row);
}

/// Messages are; that something begins or ends is said on one line.
bool LogScan::may_be_wrapped(std::size_t pattern) const {
  if (pattern >= m_patterns.row_of.size()) return false;
  const auto role = m_patterns.data.rows[m_patterns.row_of[pattern]].role;
  return may_explain(role) || role == LineRole::consequence || role == LineRole::noise;
}

LogScan::LineNotes LogScan::notes_of(std::string_view line, bool whole) const {
  LineNotes notes;
  auto candidates = m_patterns.matcher.candidates(line);
  if (candidates.empty()) return notes;
  const auto text = whole ? plain(line) : line;
  notes.skip = static_cast<std::size_t>(text.data() - line.data());
  notes.shown = shown(text);
  const auto& row_of = m_patterns.row_of;
  PatternMatch match;
  for (const auto pattern : candidates) {
    if (!m_patterns.matcher.find(pattern, text, match)) {
      if (whole && may_be_wrapped(pattern))
        notes.unmatched.emplace_back(pattern, m_patterns.matcher.lacks(pattern, line));
      continue;
    }
    if (pattern < row_of.size() && m_patterns.data.rows[row_of[pattern]].role == LineRole::noise) {
      notes.matches = {std::move(match)};
      notes.unmatched.clear();
      notes.likely = false;
      return notes;
    }
    if (any_in(m_patterns.advice, text.substr(0, match.begin))) continue;
    if (pattern < row_of.size())
      notes.matches.push_back(std::move(match));
    else
      notes.likely = true;
  }
  return notes;
}

const LogScan::LineNotes& LogScan::kept_notes(std::string_view line) {
  if (line.size() > k_noted_line) return m_long_notes = notes_of(line, true);
  const auto found = m_notes.find(std::string(line));
  if (found != m_notes.end()) return found->second;
  if (m_notes.size() >= k_noted_lines) m_notes.clear();
  return m_notes.emplace(line, notes_of(line, true)).first->second;
}

/// Messages that were wrapped: the next two lines are read along.
void LogScan::match_wrapped(const LineNotes& notes, std::size_t begin, std::size_t end,
                            std::vector<PatternMatch>& matches) {
  const auto& row_of = m_patterns.row_of;
  const std::string_view text = m_text;
  const auto second = std::min(end + 1, text.size());
  const auto third_end = line_end(text, std::min(line_end(text, second) + 1, text.size()));
  const auto behind = text.substr(second, std::min(third_end - second, 2 * k_long_line));
  std::string behind_lower, window;
  std::size_t limit = 0;
  PatternMatch match;
  for (const auto& [pattern, word] : notes.unmatched) {
    if (!is_new(row_of[pattern])) continue;
    if (behind_lower.empty()) behind_lower = lower(behind);
    if (behind_lower.find(word) == std::string::npos) continue;
    if (window.empty()) {
      window = plain(text.substr(begin, end - begin));
      limit = window.size();
      for (std::size_t i = 0, next = end; i < 2 && next + 1 < text.size(); ++i) {
        const auto next_end = line_end(text, next + 1);
        window += ' ';
        window += plain(text.substr(next + 1, std::min(next_end - next - 1, k_long_line)));
        next = next_end;
      }
    }
    if (!m_patterns.matcher.find(pattern, window, match) || match.begin >= limit) continue;
    if (m_patterns.data.rows[row_of[pattern]].role == LineRole::noise) {
      matches = {std::move(match)};
      return;
    }
    if (!any_in(m_patterns.advice, std::string_view(window).substr(0, match.begin))) matches.push_back(match);
  }
  std::ranges::stable_sort(matches, {}, &PatternMatch::pattern);
}

void LogScan::take_line(std::size_t begin, std::size_t end, std::size_t place) {
  const std::string_view text = m_text;
  const bool is_long = end - begin > k_long_line;
  if (is_long) {
    begin = std::max(begin, place > k_long_line / 4 ? place - k_long_line / 4 : 0);
    end = std::min(end, begin + k_long_line);
    m_long_notes = notes_of(text.substr(begin, end - begin), false);
  }
  const auto line = text.substr(begin, end - begin);
  const auto& notes = is_long ? m_long_notes : kept_notes(line);
  if (notes.matches.empty() && notes.unmatched.empty() && !notes.likely) return;
  const auto row_of = [&](const PatternMatch& match) { return m_patterns.row_of[match.pattern]; };
  std::vector<PatternMatch> matches;
  for (const auto& match : notes.matches)
    if (is_new(row_of(match))) matches.push_back(match);
  match_wrapped(notes, begin, end, matches);
  const bool is_noise = matches.size() == 1 && m_patterns.data.rows[row_of(matches[0])].role == LineRole::noise;
  if (matches.empty() && !notes.likely) return;
  if (m_counted < begin) {
    m_line += static_cast<std::size_t>(std::count(m_text.begin() + static_cast<std::ptrdiff_t>(m_counted),
                                                  m_text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    m_counted = begin;
  }
  const LogPlace where{m_line, notes.shown};
  if (notes.likely && !is_noise) take_likely(where);
  for (auto& match : matches) {
    const auto* row = &m_patterns.data.rows[row_of(match)];
    if (!is_noise && !fits(row_of(match), begin, end)) continue;
    LineEvent event{row, where, {}, {}, m_attempt};
    if (!is_noise) event.groups = std::move(match.groups);
    if (may_explain(row->role) && m_facts_read++ < k_fact_readings) read_facts(around(begin, end), event.facts);
    keep(std::move(event));
  }
}

/// Would another event of the row say more? Attempts and successes always do.
bool LogScan::is_new(std::size_t row) const {
  const auto role = m_patterns.data.rows[row].role;
  if (role == LineRole::attempt || role == LineRole::success) return true;
  const auto& seen = m_seen[row];
  return seen.attempt != m_attempt || seen.success != m_success || seen.times < k_repeats;
}

void LogScan::keep(LineEvent event) {
  const auto role = event.row->role;
  if (role == LineRole::attempt) event.attempt = ++m_attempt;
  if (role == LineRole::success) ++m_success;
  // The same again says no more; a success is remembered by its last line.
  if (role == LineRole::attempt || role == LineRole::success) {
    if (!m_events.empty() && m_events.back().row == event.row && role == LineRole::success) m_events.pop_back();
  } else {
    const auto row = static_cast<std::size_t>(event.row - m_patterns.data.rows.data());
    if (!is_new(row)) return;
    auto& seen = m_seen[row];
    if (seen.attempt != m_attempt || seen.success != m_success) seen = {m_attempt, m_success, 0};
    ++seen.times;
  }
  if (m_events.size() < 2 * k_events) {
    m_events.push_back(std::move(event));
    return;
  }
  // The oldest half of what is too much was of attempts long over.
  m_events.erase(m_events.begin() + 1, m_events.begin() + static_cast<std::ptrdiff_t>(k_events));
  m_events.push_back(std::move(event));
}

void LogScan::take_likely(LogPlace where) {
  m_last_likely = where.line;
  if (m_first_likely.size() < k_likely) {
    m_first_likely.push_back(std::move(where));
    return;
  }
  if (m_newest_likely.size() == k_likely) m_newest_likely.erase(m_newest_likely.begin());
  m_newest_likely.push_back(std::move(where));
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
