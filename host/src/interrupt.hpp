#pragma once
// Ctrl-C as a value.

#include <stop_token>

namespace sagekit::host {

/// A token that is stopped by the first SIGINT, SIGTERM or SIGHUP; a second SIGINT ends the process at once. Call once,
/// before any thread is started.
std::stop_token stop_on_signals();

}  // namespace sagekit::host
