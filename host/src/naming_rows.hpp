#pragma once
// The naming schemes that a command knows: of sagekit.toml, of the loaded plugins, and those that are always there.

#include "session.hpp"

#include <sagekit/naming.hpp>

#include <string>
#include <vector>

namespace sagekit::host {

/// Rows of sagekit.toml, then of the plugins: what stands before the built-in and the published ones.
std::vector<NamingScheme> own_schemes(const Session& session, const std::vector<Plugin>& plugins);
Result<std::vector<NamingScheme>> own_schemes(const Session& session);

/// All of them. `only`: that one; PLN003 (usage) with the nearest when there is none.
Result<std::vector<NamingScheme>> known_schemes(const Session& session, const std::string& only = {});

}  // namespace sagekit::host
