#pragma once
// Artifacts that no build makes, for judges to prove themselves on.

#include "plugin/judge.hpp"

namespace sagekit {

/// Nothing in it: no module, no file, no text, no reader.
JudgedArtifact empty_artifact();
/// One small module of the kind that a build makes.
JudgedArtifact minimal_artifact(const Spec& spec);
/// Much of everything: hundreds of modules, long names, bytes that are no UTF-8, capabilities that no GPU has.
JudgedArtifact extreme_artifact(const Spec& spec);

}  // namespace sagekit
