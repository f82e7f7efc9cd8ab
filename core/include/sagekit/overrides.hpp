#pragma once
// What holds for some cells only: [[overrides]] of sagekit.toml (docs/configuration.md).

#include <sagekit/diagnostic.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace sagekit {

/// How a value meets the one that would hold without it; cibuildwheel's words.
enum class Merge {
  none,     ///< takes its place
  append,   ///< is put behind it
  prepend,  ///< is put before it
};

struct OverrideValue {
  std::vector<std::string> words;  ///< empty = not said
  Merge merge = Merge::none;
};

/// Only what one build can do differently for each cell. All its cells are made from one source, and those of one CUDA
/// by one compiler.
struct CellOverride {
  std::vector<std::string> select;  ///< globs over cell ids without the suffix of their arch set; `!GLOB` excludes
  OverrideValue arch;               ///< one arch list
  OverrideValue naming;             ///< one scheme; never merged
  OverrideValue requires_dist;      ///< requirements, with the words of expand_template
  SourceLocation where;
};

/// Does one of them say that key? A flag or a variable for it, which stands above all of them, would then undo it.
inline bool any_says(const std::vector<CellOverride>& overrides, OverrideValue CellOverride::* key) {
  return std::ranges::any_of(overrides, [&](const CellOverride& one) { return !(one.*key).words.empty(); });
}

}  // namespace sagekit
