#pragma once
// Many small files that may be made anew at any time.

#include <sagekit/error.hpp>

#include <filesystem>
#include <string_view>

namespace sagekit {

/// Writes under a hidden name beside it and renames, without waiting for the disk: whoever reads sees the old file or
/// the new one, whatever ends this process. Not for two processes at once. A file of the same bytes is left alone.
/// FIL002.
Status write_beside(const std::filesystem::path& path, std::string_view bytes);

/// Its two halves, for files that belong together: all are written before the first takes its place.
Status write_hidden(const std::filesystem::path& path, std::string_view bytes);
Status show_hidden(const std::filesystem::path& path);
/// Takes back what `write_hidden` wrote.
void forget_hidden(const std::filesystem::path& path);

}  // namespace sagekit
