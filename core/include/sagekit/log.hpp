#pragma once
// Core prints nothing: developers' log lines go to the sink the embedder passes in.

#include <functional>
#include <string_view>

namespace sagekit {

enum class LogLevel { debug, info, warning };

/// Called from any thread; must not throw. An empty function discards.
using LogSink = std::function<void(LogLevel, std::string_view)>;

}  // namespace sagekit
