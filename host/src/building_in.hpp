#pragma once
// `build --in ENGINE`: the plan is generated for the engine, run there, and its wheels are collected.

#include "generating.hpp"
#include "session.hpp"

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace sagekit::host {

/// What of a build's flags means something in an engine.
struct EngineBuild {
  std::string engine;  ///< docker, podman, buildah, slurm
  SelectionArguments selection;
  GenerateArguments generate;
  std::string output, source;
  std::vector<std::string> build_words;  ///< further flags of `build`: "--jobs" "4"
};

/// Generates, runs, collects; the exit code of the build there. Says and documents what the build says. Errors: GEN010
/// (machine) the engine is not here, GEN011 (machine) it does not answer, or could not make the image or the job, with
/// its last lines, or its wheels are on another machine; GEN012 (usage) the cells need several images; those of
/// generate().
Result<int> build_in(Session& session, const EngineBuild& build, std::stop_token stop);

}  // namespace sagekit::host
