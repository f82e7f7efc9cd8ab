#pragma once
// The outcome of a whole `build` or `package` run, for machines.

#include <sagekit/build.hpp>
#include <sagekit/export.hpp>
#include <sagekit/package.hpp>

#include <string>
#include <vector>

namespace sagekit {

/// A cell whose files or wheel were judged and refused.
struct RefusedCell {
  std::string cell;
  WheelReport report;
};

/// "sagekit.build/1" of docs/json.md.
SAGEKIT_API std::string build_json(const Build& build, const std::vector<PackagedWheel>& wheels,
                                   const std::vector<RefusedCell>& refused);

}  // namespace sagekit
