#pragma once
// A request as the flags that mean it.

#include <sagekit/plan.hpp>

#include <string>
#include <vector>

namespace sagekit {

/// "--profile" "stable" ..., without what overrides_toml says, and without the arch list: that is
/// TORCH_CUDA_ARCH_LIST's, which may be another at each run.
std::vector<std::string> request_words(const Request& request);

/// The arch list for a flag or for TORCH_CUDA_ARCH_LIST; "" = there is none, or overrides_toml says it.
std::string flag_arches(const Request& request);

/// A sagekit.toml with the same [[scheme]] and [[overrides]], and above them the values that an override stands above;
/// "" = there are neither.
std::string overrides_toml(const Request& request);

/// GEN003 of any of its words.
Status check_request(const Request& request);

}  // namespace sagekit
