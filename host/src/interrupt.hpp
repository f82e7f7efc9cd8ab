#pragma once
// Ctrl-C as a value.

#include <stop_token>

namespace sagekit::host {

/// A token that is stopped by the first SIGINT, SIGTERM or SIGHUP; a second SIGINT ends the process at once. Call
/// before any thread is started; the second call gives the same token. Only for verbs that start long work: its thread makes every shared_ptr of the process
/// atomic, and reading three plugins then takes half as long again.
std::stop_token stop_on_signals();

}  // namespace sagekit::host
