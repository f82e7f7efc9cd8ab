#pragma once
// What a wheel's modules want of torch, CUDA and the C library.

#include "resolve/traits.hpp"
#include "verify/artifact.hpp"

namespace sagekit {

/// Adds what the wheel's modules tell. Needs members (with their symbols), name, and the wheel's metadata.
void add_modules(const Artifact& artifact, const Target& target, Traits& traits);

}  // namespace sagekit
