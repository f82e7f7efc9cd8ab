#pragma once
// sagekit.toml applied: what was not said by a flag or the environment is taken from the file.

#include "session.hpp"

namespace sagekit::host {

/// Finds the file (--config, else from the current folder), reads it and hands its keys to the flags of `verb` that the
/// command line does not have. False: what is wrong was said, and it is of kind usage.
bool configure(Session& session, const Verb& verb);

}  // namespace sagekit::host
