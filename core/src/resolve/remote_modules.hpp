#pragma once
// The modules of a wheel on a server, read in part: the loader's tables, and GPU code until what the target's GPUs
// would take is found.

#include "index/remote_wheel.hpp"
#include "resolve/traits.hpp"

namespace sagekit {

/// Adds what the modules tell. What cannot be had from a part of the bytes stays unsaid. Errors: of reading.
Status read_remote_modules(RemoteWheel& wheel, const Candidate& candidate, const Target& target,
                           const ResolveOptions& options, Traits& traits, std::stop_token stop);

}  // namespace sagekit
