#pragma once
// What other verbs use of `explain`; verbs/explain.cpp.

#include <sagekit/causes.hpp>
#include <sagekit/environment.hpp>

#include <string>

namespace sagekit::host {

struct Session;

/// What this machine is, in the words of LogFacts.
LogFacts facts_of(const Environment& machine);

/// Shows a code's page, or a family's codes; returns the exit code.
int explain_code(Session& session, const std::string& code);

}  // namespace sagekit::host
