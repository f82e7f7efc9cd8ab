#include "causes/log_scan.hpp"

#include "causes/log_text.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <iterator>

namespace sagekit {

namespace {

constexpr std::size_t k_before = 16 << 10, k_behind = 4 << 10;  // of a line: what stands around it
constexpr std::size_t k_long_line = 8 << 10;                    // longer ones are looked at around the place
constexpr std::size_t k_longest_line = 256 << 10;               // a line without end is cut
constexpr std::size_t k_head = 64 << 10;
constexpr std::size_t k_shown = 300;
constexpr std::size_t k_events = 4096;
constexpr std::size_t k_likely = 5;
constexpr std::size_t k_choices = 2048, k_noted_lines = 4096, k_noted_line = 1 << 10;  // kept, and no longer than that
constexpr std::size_t k_overlap = 512;  // of what is looked through for words around a line
constexpr std::size_t k_fact_readings = 24;
constexpr int k_repeats = 3, k_installed = 200;

std::vector<std::string> patterns_of(const CauseData& data) {
  std::vector<std::string> patterns;
  for (const auto& row : data.rows) patterns.insert(patterns.end(), row.match.begin(), row.match.end());
  patterns.insert(patterns.end(), data.likely.begin(), data.likely.end());
  return patterns;
}

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

bool contains_word(const std::vector<WordHit>& words, std::size_t word) {
  return std::ranges::any_of(words, [&](const auto& one) { return one.word == word; });
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
      advice(one_of(from.advice)),
      informing(one_of(from.informing)),
      prefix("(?:" + one_of(from.prefixes) + ")*"),
      facts(from.facts),
      traceback(from.traceback) {
  for (std::size_t i = 0; i < from.rows.size(); ++i) {
    row_of.insert(row_of.end(), from.rows[i].match.size(), i);
    near.emplace_back(one_of(from.rows[i].near));
    apart.emplace_back(one_of(from.rows[i].apart));
  }
}

const CausePatterns& cause_patterns() {
  static const CausePatterns k_patterns(cause_data());
  return k_patterns;
}

LogScan::LogScan(const CausePatterns& patterns)
    : m_patterns(patterns),
      m_window(patterns.matcher),
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
  m_patterns.facts.read(m_head, m_facts);
  m_patterns.facts.read(m_text, m_facts);
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
  m_window.start(m_text, m_scanned);
  while (m_scanned < end) {
    auto& line = *m_window.at(0);
    const auto next = line.end + 1;
    if (!line.words.empty()) take_line(line);
    m_scanned = next;
    m_window.step();
  }
  m_scanned = end;
  // What stands before the next line stays.
  const std::size_t keep = m_scanned > k_before ? m_scanned - k_before : 0;
  const auto from = keep == 0 ? 0 : line_end(m_text, keep) + 1;
  if (last || from == 0 || from > m_scanned) return;
  count_lines(from);
  m_text.erase(0, from);
  m_gone += from;
  m_scanned -= from;
  m_counted -= from;
}

/// `m_line` is of the text up to there, then.
void LogScan::count_lines(std::size_t up_to) {
  if (m_counted >= up_to) return;
  m_line += static_cast<std::size_t>(std::count(m_text.begin() + static_cast<std::ptrdiff_t>(m_counted),
                                                m_text.begin() + static_cast<std::ptrdiff_t>(up_to), '\n'));
  m_counted = up_to;
}

std::string_view LogScan::plain(std::string_view line) const {
  line.remove_prefix(m_patterns.prefix.prefix(line));
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

/// Messages are; that something begins or ends is said on one line. Shapes are of lines.
bool LogScan::may_be_wrapped(std::size_t pattern) const {
  const auto role = row_of(pattern).role;
  if (row_of(pattern).shape) return false;
  return may_explain(role) || role == LineRole::consequence || role == LineRole::noise;
}

const LogScan::Choice& LogScan::choice_of(const std::vector<WordHit>& words) {
  m_key.clear();
  for (const auto& one : words) m_key += static_cast<char32_t>(one.word);
  std::ranges::sort(m_key);
  m_key.erase(std::unique(m_key.begin(), m_key.end()), m_key.end());
  if (const auto found = m_choices.find(m_key); found != m_choices.end()) return found->second;
  if (m_choices.size() >= k_choices) m_choices.clear();
  Choice choice;
  for (const auto& one : m_patterns.matcher.choose(m_key).candidates) {
    const bool is_whole = one.lacks == PatternChoice::k_nothing;
    if (one.pattern >= m_patterns.row_of.size()) {
      if (is_whole) choice.likely.push_back(one.pattern);
    } else if (is_whole || may_be_wrapped(one.pattern)) {
      (row_of(one.pattern).role == LineRole::noise ? choice.noise : choice.rows).push_back(one);
    }
  }
  return m_choices.emplace(m_key, std::move(choice)).first->second;
}

bool LogScan::is_advice(const PatternMatch& match) const {
  return !m_patterns.advice.empty() && m_patterns.advice.in(match.text.substr(0, match.begin));
}

/// Rows of which enough was seen say no more.
bool LogScan::says_more(const Choice& choice) const {
  const auto is_wanted = [&](const auto& one) { return is_new(m_patterns.row_of[one.pattern]); };
  return !choice.likely.empty() || std::ranges::any_of(choice.rows, is_wanted) ||
         std::ranges::any_of(choice.noise, is_wanted);
}

/// `whole`: it may go on in the next lines.
LogScan::LineNotes LogScan::notes_of(const Choice& choice, std::string_view line, bool whole) const {
  const auto& matcher = m_patterns.matcher;
  LineNotes notes;
  PatternMatch match;
  for (const auto& one : choice.noise) {
    if (one.lacks == PatternChoice::k_nothing && matcher.find(one.pattern, line, match))
      return {{{one.pattern, {}}}, {}, false};
    if (whole) notes.unmatched.push_back(one);
  }
  for (const auto& one : choice.rows) {
    if (one.lacks != PatternChoice::k_nothing || !matcher.find(one.pattern, line, match)) {
      if (whole && may_be_wrapped(one.pattern)) notes.unmatched.push_back(one);
    } else if (!is_advice(match)) {
      notes.matches.push_back({one.pattern, matcher.groups(match)});
    }
  }
  notes.likely = std::ranges::any_of(
      choice.likely, [&](auto pattern) { return matcher.find(pattern, line, match) && !is_advice(match); });
  std::ranges::sort(notes.unmatched, {}, &PatternChoice::Candidate::pattern);
  return notes;
}

const LogScan::LineNotes& LogScan::kept_notes(const Choice& choice, std::string_view line) {
  if (line.size() > k_noted_line) return m_long_notes = notes_of(choice, line, true);
  if (const auto found = m_notes.find(line); found != m_notes.end()) return found->second;
  if (m_notes.size() >= k_noted_lines) m_notes.clear();
  return m_notes.emplace(line, notes_of(choice, line, true)).first->second;
}

/// What of a line is read: without what carried it.
std::string_view LogScan::plain(LineWindow::Line& line) const {
  if (!line.plain) line.plain = plain(std::string_view(m_text).substr(line.begin, line.end - line.begin));
  return *line.plain;
}

/// Messages that were wrapped: the next two lines are read along.
void LogScan::match_wrapped(LineWindow::Line& line, const LineNotes& notes) {
  std::size_t limit = 0;
  PatternMatch match;
  m_joined.clear();
  for (const auto& one : notes.unmatched) {
    if (!is_new(m_patterns.row_of[one.pattern])) continue;
    if (one.lacks != PatternChoice::k_nothing && !follows(one.lacks)) continue;
    if (m_joined.empty()) {
      m_joined = plain(line);
      limit = m_joined.size();
      for (std::size_t i = 1; i < LineWindow::k_lines; ++i)
        if (auto* next = m_window.at(i)) (m_joined += ' ') += plain(*next).substr(0, k_long_line);
    }
    if (!m_patterns.matcher.find(one.pattern, m_joined, match) || match.begin >= limit) continue;
    if (row_of(one.pattern).role == LineRole::noise) {
      m_found = {{one.pattern, {}}};
      return;
    }
    if (!is_advice(match)) m_found.push_back({one.pattern, m_patterns.matcher.groups(match)});
  }
  std::ranges::stable_sort(m_found, {}, &RowMatch::pattern);
}

/// Is the word on one of the next lines?
bool LogScan::follows(std::size_t word) {
  for (std::size_t i = 1; i < LineWindow::k_lines; ++i)
    if (const auto* next = m_window.at(i); next != nullptr && contains_word(next->words, word)) return true;
  return false;
}

/// Of a line that is too long to be read whole: what is around its first word that says anything.
bool LogScan::cut(LineWindow::Line& line) const {
  const auto first = std::ranges::find_if(line.words, [&](auto& one) { return m_patterns.matcher.is_first(one.word); });
  if (first == line.words.end()) return false;
  line.begin = std::max(line.begin, first->end > k_long_line / 4 ? first->end - k_long_line / 4 : 0);
  line.end = std::min(line.end, line.begin + k_long_line);
  line.words.clear();
  m_patterns.matcher.read_line(std::string_view(m_text).substr(0, line.end), line.begin, line.words);
  return true;
}

void LogScan::take_line(LineWindow::Line& line) {
  const bool is_long = line.end - line.begin > k_long_line;
  if (is_long && !cut(line)) return;
  const auto& choice = choice_of(line.words);
  if (!says_more(choice)) return;
  const auto [begin, end] = std::pair(line.begin, line.end);
  const auto carried = std::string_view(m_text).substr(begin, end - begin);
  const auto text = is_long ? carried : plain(line);
  if (is_long) m_long_notes = notes_of(choice, text, false);
  const auto& notes = is_long ? m_long_notes : kept_notes(choice, text);
  const bool is_wrapper = std::ranges::any_of(
      notes.matches, [&](const auto& one) { return row_of(one.pattern).role == LineRole::consequence; });
  m_found.clear();
  std::ranges::copy_if(notes.matches, std::back_inserter(m_found), [&](const auto& one) {
    const auto& row = row_of(one.pattern);
    return is_new(one) && (!is_wrapper || row.last == 0 || row.wraps);  // a last resort says nothing of a wrapper
  });
  if (!notes.unmatched.empty()) match_wrapped(line, notes);
  if (m_found.empty() && !notes.likely) return;
  count_lines(begin);
  const LogPlace where{m_line, shown(text)};
  const bool is_noise = m_found.size() == 1 && row_of(m_found[0].pattern).role == LineRole::noise;
  if (notes.likely && !is_noise) take_likely(where);
  for (auto& match : m_found) {
    if (!is_noise && !fits(m_patterns.row_of[match.pattern], begin, end)) continue;
    const auto& row = row_of(match.pattern);
    LineEvent event{&row, row.role, where, std::move(match.groups), {}, m_attempt};
    if (row.role == LineRole::cause && m_patterns.informing.prefix(carried) > 0) event.role = LineRole::advice;
    if (may_explain(row.role) && m_facts_read++ < k_fact_readings) event.facts = facts_around(begin, end);
    keep(std::move(event));
  }
}

/// Would another event of the row say more? Attempts and successes always do.
bool LogScan::is_new(std::size_t row) const {
  const auto role = m_patterns.data.rows[row].role;
  if (role == LineRole::attempt || role == LineRole::success) return true;
  const auto& seen = m_seen[row];
  return seen.attempt != m_attempt || seen.success != m_success ||
         seen.times < (role == LineRole::context ? k_installed : k_repeats);
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

/// What stands around the line says of the machine, and a traceback of who called whom.
LogFacts LogScan::facts_around(std::size_t begin, std::size_t end) const {
  const auto text = around(begin, end);
  const auto line = static_cast<std::size_t>(m_text.data() + begin - text.data());
  auto facts =
      m_patterns.traceback.facts(text.substr(0, line), text.substr(std::min(line + end - begin + 1, text.size())),
                                 [&](std::string_view one) { return plain(one); });
  m_patterns.facts.read(text, facts);
  return facts;
}

}  // namespace sagekit
