#pragma once
// core/data/causes/*.toml as values.

#include "support/embedded_text.hpp"
#include "support/toml.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// What a line that matches a row is.
enum class LineRole {
  cause,        ///< stops the work
  silent,       ///< spoils the result while the work goes on: a good ending does not clear it
  advice,       ///< a warning that is the cause only when something failed and nothing else explains it
  consequence,  ///< a wrapper: says that something failed, never why
  failure,      ///< a trace of failing without a name of its own
  success,      ///< something ended well: clears what came before
  attempt,      ///< someone tries again, or something else
  context,      ///< tells what is being done: what is installed
  noise,        ///< looks bad and means nothing
};

/// May a line of that role be what a failure is explained with?
bool may_explain(LineRole role);
/// Is a row of that role about what people see, and has a page?
bool has_page(LineRole role);

/// "nvcc < 12.8": compares a fact of the log, or a group of the pattern, with a version, a number, another group or
/// words.
struct CauseCondition {
  std::string left, op, right;
  std::string text;  ///< as written
};

struct CauseFixRow {
  std::string command, why;
  std::vector<std::string> when;  ///< conditions "os = windows"; all must hold, unknown facts hold
  std::vector<CauseCondition> conditions;
};

struct CauseRow {
  std::string code, title, stage;
  LineRole role = LineRole::cause;
  std::vector<std::string> signatures;
  std::vector<std::string> match;  ///< RE2; one of them
  std::vector<std::string> near;   ///< one of them must stand around the line; empty = no matter
  std::vector<std::string> apart;  ///< none of them may
  std::vector<CauseCondition> when;
  std::vector<std::string> after;  ///< codes and stages that explain it when they came before
  std::vector<std::string> with;   ///< codes of advice that is the same cause, seen earlier
  bool fallback = false;           ///< gives way to any other cause on the same line, and ranks behind others
  bool shape = false;              ///< says what the form of a message says, and no more: gives way to fallbacks, too
  std::size_t last =
      0;  ///< a shape that gives way to shapes, and counts only within so many lines of what follows or the end
  bool wraps = false;                ///< carries another cause's words in its own line
  std::vector<std::string> carries;  ///< codes, and stages of what says more, whose words it wraps: follows from them
  std::size_t within = 0;            ///< so many lines away from them at most, on either side
  std::string package;               ///< which package it is about, where no group of the pattern names it
  std::string cause, is_not, source, confidence, group;
  std::string means_of;                      ///< a group of the pattern that is looked up in `means`
  std::map<std::string, std::string> means;  ///< what a name or number says: {means} in the texts; "else": any other
  std::vector<std::string> looks_like;       ///< what people see, as they would type it
  std::vector<CauseFixRow> fix;
  bool owner_fixes = false;  ///< TracebackRows::fixes stand behind its own
};

/// A fact of the log: `match` has a group "value", or `value` is what a match means.
struct FactRow {
  std::string name, value;
  std::vector<std::string> match;
};

/// How a traceback writes a frame: groups "file" and "line"; the next one stands at most `reach` lines away.
struct FrameFormRow {
  std::string match;
  std::size_t reach = 0;
};

/// Whose a file is, by its path; the first that matches. Its group "name" is the owner's.
struct FrameOwnerRow {
  std::string kind, match, words;
  bool asks = false;    ///< calls others for a purpose of its own: {node}
  bool serves = false;  ///< where such a one called it, that one is the owner
  bool passes = false;  ///< carries out what its caller asked for, as do TracebackRows::passes
};

struct TracebackRows {
  std::string begin, own_words;
  std::vector<std::string> passes;
  std::map<std::string, std::string> distributions;  ///< what pip calls a folder's package
  std::vector<FrameFormRow> forms;
  std::vector<FrameOwnerRow> owners;
  std::vector<CauseFixRow> fixes;  ///< what is done about the owner
};

struct CauseData {
  std::vector<CauseRow> rows;
  std::vector<FactRow> facts;
  TracebackRows traceback;
  std::vector<std::string> advice;      ///< before a match on its line: the line tells people something
  std::vector<std::string> informing;   ///< a line so begun is information by its own word: it warns at most
  std::vector<std::string> likely;      ///< lines that may hold the cause
  std::vector<std::string> prefixes;    ///< of lines, by what carried them: cut off, again and again
  std::vector<std::string> pip_values;  ///< options of pip and uv that have a value
  std::vector<std::pair<std::string, std::string>> groups;  ///< of docs/troubleshooting.md: id, heading
  Diagnostics problems;

  const CauseRow* find(std::string_view code) const;
};

/// The files of core/data/causes. Written at build time by cmake/EmbedText.cmake.
std::span<const EmbeddedText> cause_files();

/// Reads such files as one; what is wrong with them is in `problems`. Patterns are tried out and references looked up
/// when `check` says so: ours are, by a test.
CauseData read_cause_data(std::span<const EmbeddedText> files, bool check);

/// The embedded ones, read once.
const CauseData& cause_data();

}  // namespace sagekit
