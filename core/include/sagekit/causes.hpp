#pragma once
// Why a build, an install, an import or a run failed, out of its log: the first cause, its line, what follows from it,
// and the command that mends it. What is known are rows of core/data/causes, each with a page.

#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/finding.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// What a log says about the machine and the work it comes from, by name: "os" (windows, linux), "machine" (x86_64,
/// aarch64), "installer" (pip, uv, setup.py, docker, portable), "installing" (as pip takes it again), "package", "gpu",
/// "capability" ("12.0"), "driver", "python", "torch", "cuda" (that torch was built with), "nvcc", "triton". What is
/// not said is not there.
using LogFacts = std::map<std::string, std::string>;

/// A line of a log: counted from 1, without colours, time stamps and the prefixes of what carried it.
struct LogPlace {
  std::size_t line = 0;
  std::string text;
  bool operator==(const LogPlace&) const = default;
};

struct CauseFix {
  std::string command;  ///< to be typed; "" = nothing can be typed, `why` says what to do
  std::string why;
  std::string when;  ///< for whom it is, where the log does not say it: "on Windows"; "" = for this one
  bool operator==(const CauseFix&) const = default;
};

/// Something in the log that a cause explains.
struct CauseConsequence {
  std::string code;  ///< "WHY911"
  std::string title;
  LogPlace where;
};

struct FoundCause {
  std::string code;                     ///< "WHY104"
  std::vector<std::string> signatures;  ///< ids of the collected signatures that it covers, its own first
  std::string title;
  std::string stage;  ///< fetch, configure, compile, link, install, import, start, run
  LogPlace where;
  std::string cause;                           ///< why it happened, in sentences
  std::string is_not;                          ///< what people take it for and it is not; may be empty
  std::vector<CauseConsequence> follows_from;  ///< what follows from it, in the order of the log
  std::vector<CauseFix> fix;                   ///< chosen by what the log or the machine at hand says
  std::string confidence;                      ///< high, medium, low
};

enum class LogEnding { well, failed, unknown };

struct Explanation {
  std::vector<FoundCause> causes;      ///< best first; empty = nothing known
  std::vector<LogPlace> likeliest;     ///< lines to look at when there is no cause
  std::vector<CauseConsequence> seen;  ///< what was recognised and is no cause: wrappers, warnings, false alarms
  LogFacts facts;
  LogEnding ending = LogEnding::unknown;
  std::size_t lines = 0;
};

/// Fills `room` from its beginning and says how many bytes it wrote; 0 = the end.
using ReadLog = std::function<Result<std::size_t>(char* room, std::size_t size)>;

/// Reads a log once, in pieces: text in UTF-8, UTF-16 or a Windows code page, or gzip of it. Memory does not grow with
/// the log. `here` are facts about the machine at hand, which win over what the log says; pass them when it is the
/// machine that failed. The only errors are those of `read`.
SAGEKIT_API Result<Explanation> explain_log(const ReadLog& read, const LogFacts& here = {});
SAGEKIT_API Explanation explain_log_text(std::string_view log, const LogFacts& here = {});
/// FIL001 (usage) when the file cannot be read.
SAGEKIT_API Result<Explanation> explain_log_file(const std::filesystem::path& log, const LogFacts& here = {});

/// "sagekit.explain/1" of docs/json.md.
SAGEKIT_API std::string explanation_json(const Explanation& explanation);

/// The pages of causes: of a code ("WHY104"), of a signature ("C04"), or all of them with "WHY". Empty = no such code.
/// Upper or lower case.
SAGEKIT_API std::vector<FindingPage> cause_pages(std::string_view code);

/// docs/troubleshooting.md: every cause under what people see.
SAGEKIT_API std::string troubleshooting_page();

}  // namespace sagekit
