#pragma once
// Core's log lines go through spdlog, here and nowhere else.

#include <sagekit/log.hpp>

namespace sagekit::host {

/// `verbosity` -1: nothing, 0: warnings, 1: what is done, 2: everything.
LogSink make_log(int verbosity, bool color);

}  // namespace sagekit::host
