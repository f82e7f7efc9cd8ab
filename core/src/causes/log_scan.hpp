#pragma once
// One pass over a log's text: which rows of the data its lines match, and what it says about the machine.

#include "causes/cause_data.hpp"
#include "causes/line_matcher.hpp"

#include <sagekit/causes.hpp>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace sagekit {

/// A line that matches a row.
struct LineEvent {
  const CauseRow* row = nullptr;
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
  std::vector<std::size_t> row_of;  ///< of each pattern; behind them are the likely ones
  std::vector<std::vector<Pattern>> near, apart;
  std::vector<Pattern> advice;
  Pattern prefix;
  std::vector<std::pair<const FactRow*, std::vector<Pattern>>> facts;
};

/// Of the embedded data.
const CausePatterns& cause_patterns();

class LogScan {
 public:
  explicit LogScan(const CausePatterns& patterns) : m_patterns(patterns) {}

  /// The next text; cut anywhere.
  void add(std::string_view text);
  /// The log is at its end.
  void finish();

  const std::vector<LineEvent>& events() const { return m_events; }
  /// Lines that may hold a cause: the first few, and the last.
  std::vector<LogPlace> likeliest() const;
  std::size_t last_likely() const { return m_last_likely; }  ///< its line; 0 = none
  const LogFacts& facts() const { return m_facts; }
  std::size_t lines() const { return m_lines; }

 private:
  void scan(bool last);
  void take_line(std::size_t begin, std::size_t end, std::size_t place);
  void take_likely(const LogPlace& where);
  bool fits(std::size_t row, std::size_t begin, std::size_t end) const;
  void keep(LineEvent event);
  std::string_view around(std::size_t begin, std::size_t end) const;
  std::string_view plain(std::string_view line) const;
  void read_facts(std::string_view text, LogFacts& facts) const;

  const CausePatterns& m_patterns;

  std::string m_text;         ///< a window of the log
  std::size_t m_scanned = 0;  ///< of it
  std::size_t m_counted = 0;  ///< up to where m_line counts newlines
  std::size_t m_line = 1;
  std::string m_head;
  std::vector<LineEvent> m_events;
  std::map<std::tuple<const CauseRow*, std::size_t, std::size_t>, int> m_seen;
  std::size_t m_attempt = 0, m_success = 0, m_facts_read = 0;
  std::vector<LogPlace> m_first_likely, m_newest_likely;
  std::size_t m_last_likely = 0;
  LogFacts m_facts;
  std::size_t m_lines = 0;
};

}  // namespace sagekit
