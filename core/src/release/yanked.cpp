#include "support/toml.hpp"

#include <sagekit/release_index.hpp>

namespace sagekit {

std::expected<std::vector<YankedFiles>, Diagnostics> parse_yanked(std::string_view text, std::string_view origin) {
  const auto document = TomlDocument::parse(text, origin, "REL");
  std::vector<YankedFiles> rows;
  auto root = document.root();
  for (auto& table : root.tables("yanked")) {
    YankedFiles row;
    row.files = table.required_string("files");
    row.reason = table.required_string("reason");
    row.line = document.where(table.path()).line;
    table.finish();
    rows.push_back(std::move(row));
  }
  root.finish();
  if (auto wrong = document.diagnostics(); !wrong.empty()) return std::unexpected(std::move(wrong));
  return rows;
}

}  // namespace sagekit
