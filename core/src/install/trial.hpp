#pragma once
// Does what was installed work?

#include <sagekit/causes.hpp>
#include <sagekit/install.hpp>

namespace sagekit {

/// What chooses the mend of something that failed there.
LogFacts facts_of(const Target& machine);

/// Imports every module by itself and the package as its users do, and runs the numeric gate when asked. Fills `report`
/// and `untried`. Errors: IST008, IST009 (failed), interrupted.
Status try_installed(Installed& done, const InstallOptions& options, CommandRunner& runner, std::stop_token stop);

}  // namespace sagekit
