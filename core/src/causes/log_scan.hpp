#pragma once
// One pass over a log's text: which rows of the data its lines match, and what it says about the machine.

#include "causes/cause_data.hpp"
#include "causes/fact_reader.hpp"
#include "causes/line_matcher.hpp"
#include "causes/line_window.hpp"
#include "causes/traceback.hpp"

#include <sagekit/causes.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sagekit {

/// A line that matches a row.
struct LineEvent {
  const CauseRow* row = nullptr;
  LineRole role = LineRole::cause;  ///< the row's, or advice when the line calls itself information
  LogPlace where;
  std::map<std::string, std::string> groups;
  LogFacts facts;           ///< said around the line
  std::size_t attempt = 0;  ///< the how manieth
};

/// The rows' patterns, compiled. Made once, used by any number of scans.
struct CausePatterns {
  explicit CausePatterns(const CauseData& data);

  const CauseData& data;
  LineMatcher matcher;
  std::vector<std::size_t> row_of;   ///< of each pattern; behind them are the likely ones
  std::vector<Pattern> near, apart;  ///< of each row: one of them; "" = none are asked for
  Pattern advice, informing;         ///< one of them
  Pattern prefix;                    ///< as many as there are
  FactReader facts;
  TracebackReader traceback;
};

/// Of the embedded data.
const CausePatterns& cause_patterns();

class LogScan {
 public:
  explicit LogScan(const CausePatterns& patterns);

  /// The next text; cut anywhere.
  void add(std::string_view text);
  /// The log is at its end.
  void finish();

  const std::vector<LineEvent>& events() const { return m_events; }
  /// Lines that may hold a cause: the first few, and the last.
  std::vector<LogPlace> likeliest() const;
  std::size_t last_likely() const { return m_last_likely; }  ///< its line; 0 = none
  const LogFacts& facts() const { return m_facts; }
  const CauseData& data() const { return m_patterns.data; }
  std::size_t lines() const { return m_lines; }

 private:
  /// What the words of a line let it match.
  struct Choice {
    std::vector<PatternChoice::Candidate> rows, noise;
    std::vector<std::size_t> likely;  ///< patterns
    bool empty() const { return rows.empty() && noise.empty() && likely.empty(); }
  };
  struct RowMatch {
    std::size_t pattern = 0;
    PatternGroups groups;
  };
  /// Texts are looked up without a copy.
  struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  /// What a line matches by itself: found once, however often it stands there.
  struct LineNotes {
    std::vector<RowMatch> matches;                    ///< a noise row's alone when there is one
    std::vector<PatternChoice::Candidate> unmatched;  ///< may match with the next lines
    bool likely = false;
  };
  /// Where a pattern was last found in the log, and up to where it was looked for.
  struct Sought {
    std::size_t found = std::string::npos, up_to = 0;
  };
  /// How often a row was seen since the last attempt and success.
  struct Seen {
    std::size_t attempt = 0, success = 0;
    int times = 0;
  };

  void scan(bool last);
  void take_line(LineWindow::Line& line);
  bool cut(LineWindow::Line& line) const;
  const CauseRow& row_of(std::size_t pattern) const { return m_patterns.data.rows[m_patterns.row_of[pattern]]; }
  bool may_be_wrapped(std::size_t pattern) const;
  const Choice& choice_of(const std::vector<WordHit>& words);
  bool says_more(const Choice& choice) const;
  LineNotes notes_of(const Choice& choice, std::string_view line, bool whole) const;
  const LineNotes& kept_notes(const Choice& choice, std::string_view line);
  void match_wrapped(LineWindow::Line& line, const LineNotes& notes);
  bool follows(std::size_t word);
  bool is_new(const RowMatch& match) const { return is_new(m_patterns.row_of[match.pattern]); }
  bool is_advice(const PatternMatch& match) const;
  void count_lines(std::size_t up_to);
  void take_likely(LogPlace where);
  bool fits(std::size_t row, std::size_t begin, std::size_t end);
  bool near_by(const Pattern& pattern, Sought& sought, std::size_t begin, std::size_t end) const;
  bool in_head(std::size_t row);
  bool is_new(std::size_t row) const;
  void keep(LineEvent event);
  std::string_view around(std::size_t begin, std::size_t end) const;
  std::string_view plain(std::string_view line) const;
  std::string_view plain(LineWindow::Line& line) const;
  LogFacts facts_around(std::size_t begin, std::size_t end) const;

  const CausePatterns& m_patterns;

  std::string m_text;         ///< a window of the log
  std::size_t m_gone = 0;     ///< of the log, before the window
  std::size_t m_scanned = 0;  ///< of it
  std::size_t m_counted = 0;  ///< up to where m_line counts newlines
  std::size_t m_line = 1;
  std::string m_head;
  std::vector<LineEvent> m_events;
  LineWindow m_window;
  std::unordered_map<std::u32string, Choice> m_choices;
  std::u32string m_key;  ///< of them
  std::unordered_map<std::string, LineNotes, TextHash, std::equal_to<>> m_notes;
  LineNotes m_long_notes;
  std::vector<RowMatch> m_found;        ///< in the line, and with those that follow it
  std::string m_joined;                 ///< the line, and those that follow it
  std::vector<Sought> m_near, m_apart;  ///< by row
  std::vector<signed char> m_in_head;   ///< by row: near words in the head; -1 = not looked for
  std::vector<Seen> m_seen;             ///< by row
  std::size_t m_attempt = 0, m_success = 0, m_facts_read = 0;
  std::vector<LogPlace> m_first_likely, m_newest_likely;
  std::size_t m_last_likely = 0;
  LogFacts m_facts;
  std::size_t m_lines = 0;
};

}  // namespace sagekit
