#pragma once
// A spec that is read at every start.

#include <sagekit/spec.hpp>

#include <filesystem>

namespace sagekit {

/// parse_spec() with what `folder` keeps of the same text (support/kept_toml.hpp).
std::expected<Spec, Diagnostics> parse_spec(std::string_view text, std::string_view origin,
                                            const std::filesystem::path& folder);

}  // namespace sagekit
