#include "support/file.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/toml.hpp"
#include "support/try.hpp"

#include <sagekit/yanked.hpp>

#include <algorithm>

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

Result<std::vector<YankedFiles>> read_yanked(const std::filesystem::path& folder) {
  const auto path = folder / k_yanked_file;
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return std::vector<YankedFiles>();
  TRY_ASSIGN(const auto text, read_file(path));
  auto rows = parse_yanked(text, path.string());
  if (rows) return std::move(*rows);
  // A key that is written wrong is missing, too: the one with a right word beside it says more.
  const auto& wrong = rows.error();
  const auto mended = std::ranges::find_if(wrong, [](const Diagnostic& one) { return !one.hint.empty(); });
  const Diagnostic& shown = mended == wrong.end() ? wrong.front() : *mended;
  const std::string more = wrong.size() > 1 ? fmt::format(" (and {} more)", wrong.size() - 1) : "";
  return fail(ErrorKind::usage, shown.code, shown.message + more, shown.hint,
              fmt::format("{}:{}:{}", shown.where.file, shown.where.line, shown.where.column));
}

const YankedFiles* yank_of(const std::vector<YankedFiles>& rows, std::string_view file) {
  const auto found =
      std::find_if(rows.rbegin(), rows.rend(), [&](const YankedFiles& row) { return glob_match(row.files, file); });
  return found == rows.rend() ? nullptr : &*found;
}

}  // namespace sagekit
