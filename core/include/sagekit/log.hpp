#pragma once
// Core prints nothing: what it does, line by line, goes to the sink the embedder passes in. The host shows it with -v.

#include <functional>
#include <string_view>

namespace sagekit {

/// info: what was done and what was decided, a line each: a store hit, a miss with the input that differed, a request to
/// an index. debug: what each was decided from. warning: something is wrong that nothing else reports.
enum class LogLevel { debug, info, warning };

/// One line without its end, for people. Called from any thread; must not throw. An empty function discards.
using LogSink = std::function<void(LogLevel, std::string_view)>;

/// Calls the sink where there is one. `text` is made only then: `log_line(sink, LogLevel::info, [&] { return ...; })`.
template <class MakeText>
void log_line(const LogSink& sink, LogLevel level, MakeText&& make_text) {
  if (sink) sink(level, make_text());
}

}  // namespace sagekit
