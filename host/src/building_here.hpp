#pragma once
// A build for exactly this machine: its GPUs, its torch, its Python.

#include "session.hpp"

#include <sagekit/resolve.hpp>

namespace sagekit::host {

struct HereOptions {
  std::filesystem::path store = {};
  std::string source = {};                 ///< as build's --source; "" = the spec's URL
  std::vector<std::string> vendored = {};  ///< as build's --vendored
};

/// `sagekit --plugin NAME build ...` as somebody would type it.
std::vector<std::string> build_command(const Session& session, const Target& target, const HereOptions& options);

/// Runs the verb `build` and returns the folder that has its wheels. Errors: CLI001 (usage) no plugin was chosen,
/// RES009 (machine) the machine lacks what a wheel is for, RES010 (failed) the build did not come to its end; it said
/// why.
Result<std::filesystem::path> build_here(Session& session, const Target& target, const HereOptions& options);

}  // namespace sagekit::host
