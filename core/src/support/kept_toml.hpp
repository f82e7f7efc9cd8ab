#pragma once
// Parsed TOML kept on disk: toml11 takes 2 ms for 10 KB, and a plugin's spec is read at every start.

#include "support/toml_node.hpp"

#include <filesystem>
#include <optional>
#include <string_view>

namespace sagekit {

/// As TomlDocument::parse, with what `folder` keeps of the same text, or else kept there for the next time; "" keeps
/// nothing.
TomlDocument parse_toml(std::string_view text, std::string_view origin, std::string_view prefix,
                        const std::filesystem::path& folder);

/// Where the values of `text` are kept below `folder`: named by the text and this sagekit's version, so neither can be
/// stale.
std::filesystem::path kept_toml_path(const std::filesystem::path& folder, std::string_view text);
/// Nothing when there is none, or when it is not as it was written.
std::optional<TomlDocument::State::Node> read_kept_toml(const std::filesystem::path& file);
/// Makes the file's folder, and none above it: a store that is not there is not begun by a verb that only asks. Does
/// nothing where it cannot write.
void keep_toml(const std::filesystem::path& file, const TomlDocument::State::Node& root);

}  // namespace sagekit
