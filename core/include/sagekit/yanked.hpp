#pragma once
// yanked.toml beside wheels: files that installers leave alone unless they are named exactly (PEP 592).

#include <sagekit/diagnostic.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// A row of yanked.toml.
struct YankedFiles {
  std::string files;  ///< glob over file names
  std::string reason;
  int line = 0;
  bool operator==(const YankedFiles&) const = default;
};

inline constexpr std::string_view k_yanked_file = "yanked.toml";

/// Strict, with line and column: REL001 no TOML, REL003 to REL005 keys that are missing, unknown, of another type.
SAGEKIT_API std::expected<std::vector<YankedFiles>, Diagnostics> parse_yanked(std::string_view text,
                                                                              std::string_view origin);

/// The rows of the yanked.toml in a folder; none where there is no such file. Errors (usage): FIL001, and the one of
/// what is wrong with it that says most.
SAGEKIT_API Result<std::vector<YankedFiles>> read_yanked(const std::filesystem::path& folder);

/// The last row that a file is of; nullptr = it is not yanked.
SAGEKIT_API const YankedFiles* yank_of(const std::vector<YankedFiles>& rows, std::string_view file);

}  // namespace sagekit
