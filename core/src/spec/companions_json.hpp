#pragma once
// A spec's companions as JSON: plan, inspect and doctor say the same of them.

#include "support/json.hpp"

#include <sagekit/spec.hpp>

#include <vector>

namespace sagekit {

/// [{"name", "url", "commit", "needed", "not_needed", "requires_dist", "source"}]
Json companions_json(const std::vector<Companion>& companions);

}  // namespace sagekit
