#pragma once
// The rules that hold between rows of a spec: references, duplicates, contradictions. Each key by itself is the
// parser's.

#include "support/toml.hpp"

#include <sagekit/spec.hpp>

#include <string>

namespace sagekit {

/// Adds an error to `document` for each broken rule. `spec` was read from it, so that row N of a list is row N of the
/// text; members whose key had an error are empty and are not judged again.
void validate_spec(const Spec& spec, const TomlDocument& document);

/// Can both conditions hold at once? False only when their words or ranges exclude one another.
bool can_overlap(const When& a, const When& b);

/// The part about one [[verify.gpu]]: `path` is its row, "verify.gpu[0]".
void validate_gpu_case(const GpuCase& row, std::string path, const TomlDocument& document);

}  // namespace sagekit
