#pragma once
// Which of several fitting tools comes first, by where it is from.

#include <sagekit/environment.hpp>

#include <algorithm>

namespace sagekit {

/// What was given on purpose, then what the machine has, then what sagekit brought. Smaller is better.
inline int source_rank(ToolSource source) { return static_cast<int>(std::min(source, ToolSource::wheels)); }

}  // namespace sagekit
