#pragma once
// Which of several fitting tools comes first, by where it is from.

#include <string_view>

namespace sagekit {

/// What was given on purpose, then what the machine has, then what sagekit brought. Smaller is better.
inline int source_rank(std::string_view source) {
  if (source == "folder") return 0;
  return source == "system" ? 1 : 2;
}

}  // namespace sagekit
