#pragma once
// `explain CODE` and `verify --explain CODE`; verbs/explain.cpp.

#include <string>

namespace sagekit::host {

struct Session;

/// Shows a code's page, or a family's codes; returns the exit code.
int explain_code(Session& session, const std::string& code);

}  // namespace sagekit::host
