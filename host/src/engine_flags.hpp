#pragma once
// The engines of `build --in`, and what each makes of a build's flags.

#include "session.hpp"

#include <string>
#include <vector>

namespace sagekit::host {

/// "docker", "podman", "buildah", "slurm".
const std::vector<std::string>& engines();

/// Of the flags that were typed or stand in sagekit.toml, one that an engine (none: this machine) makes nothing of:
/// CLI001.
Status check_engine_flags(const Session& session, const std::string& engine);

}  // namespace sagekit::host
