#pragma once
// A request as the flags that mean it.

#include <sagekit/plan.hpp>

#include <string>
#include <vector>

namespace sagekit {

/// "--profile" "stable" ..., without the arch list: that is TORCH_CUDA_ARCH_LIST's, which may be another at each run.
std::vector<std::string> request_words(const Request& request);

/// [[overrides]] of a sagekit.toml that mean the same; "" = there are none.
std::string overrides_toml(const std::vector<CellOverride>& overrides);

/// GEN003 of any of its words.
Status check_request(const Request& request);

}  // namespace sagekit
