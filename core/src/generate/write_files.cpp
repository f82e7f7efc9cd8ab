#include "generate/head.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/generate.hpp>

#include <algorithm>
#include <map>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

/// A file as it will be written, and what is there.
struct Written {
  std::string path, text;
  bool executable = false;
  FileComparison comparison;
};

/// Lines that only one of them has, each as often as it has it more: a summary, no edit script.
void count_lines(std::string_view before, std::string_view after, FileComparison& comparison) {
  std::map<std::string, long> lines;
  for (const auto& line : split(before, '\n')) --lines[line];
  for (const auto& line : split(after, '\n')) ++lines[line];
  for (const auto& [line, count] : lines)
    (count > 0 ? comparison.lines_added : comparison.lines_removed) +=
        static_cast<std::size_t>(count > 0 ? count : -count);
}

Result<Written> compare(Written file, const fs::path& folder, bool carried) {
  const auto path = folder / file.path;
  file.comparison.path = file.path;
  std::error_code error;
  // The folders on the way, too: a link there would lead the file elsewhere.
  for (auto part = path; part != folder && part.has_relative_path(); part = part.parent_path()) {
    const auto status = fs::symlink_status(part, error);
    const bool right = part == path ? fs::is_regular_file(status) : fs::is_directory(status);
    if (fs::exists(status) && !right)
      return fail(ErrorKind::failed, "GEN005",
                  fmt::format("{} would be written, and {} is in the way", path.string(),
                              fs::is_symlink(status) ? "a link"
                              : part == path         ? "what is no file"
                                                     : "a file"),
                  "move it, or name another folder with -o", part.string());
  }
  if (!fs::exists(fs::symlink_status(path, error))) {
    file.comparison.change = FileChange::created;
    if (!carried) count_lines("", file.text, file.comparison);
    return file;
  }
  TRY_ASSIGN(const auto there, read_file(path));
  if (there == file.text) return file;
  // What is carried along has no head: another version of it is taken for what an earlier run left.
  file.comparison.change = carried || is_as_generated(there) ? FileChange::updated : FileChange::edited;
  if (!carried) count_lines(there, file.text, file.comparison);
  return file;
}

Result<std::vector<Written>> compare_all(const Generated& generated, const fs::path& folder) {
  std::vector<Written> files;
  for (const auto& made : generated.files) {
    TRY_ASSIGN(auto file, compare({made.path, made.text, made.executable, {}}, folder, false));
    files.push_back(std::move(file));
  }
  for (const auto& carried : generated.carried) {
    std::error_code error;
    if (fs::equivalent(carried.from, folder / carried.path, error)) continue;
    TRY_ASSIGN(auto text, read_file(carried.from));
    TRY_ASSIGN(auto file, compare({carried.path, std::move(text), false, {}}, folder, true));
    files.push_back(std::move(file));
  }
  return files;
}

std::vector<FileComparison> comparisons(const std::vector<Written>& files) {
  std::vector<FileComparison> result;
  for (const auto& file : files) result.push_back(file.comparison);
  return result;
}

}  // namespace

std::string_view to_string(FileChange change) {
  switch (change) {
    case FileChange::unchanged: return "unchanged";
    case FileChange::created: return "created";
    case FileChange::updated: return "updated";
    case FileChange::edited: return "edited";
  }
  return "";
}

Result<std::vector<FileComparison>> compare_generated(const Generated& generated, const fs::path& folder) {
  TRY_ASSIGN(const auto files, compare_all(generated, folder));
  return comparisons(files);
}

Result<std::vector<FileComparison>> write_generated(const Generated& generated, const fs::path& folder, bool force) {
  TRY_ASSIGN(const auto files, compare_all(generated, folder));
  for (const auto& file : files)
    if (file.comparison.change == FileChange::edited && !force)
      return fail(ErrorKind::failed, "GEN004",
                  fmt::format("{} was changed by hand, or is not sagekit's: nothing was written",
                              (folder / file.path).string()),
                  "--check shows what would change; --force overwrites it", (folder / file.path).string());
  TRY(make_directories(folder));
  // All of them beside their places first: a full disk is met before the first name is taken.
  TRY_ASSIGN(const auto scratch, TemporaryFolder::create(folder, ".sagekit-generate"));
  for (std::size_t i = 0; i < files.size(); ++i)
    if (files[i].comparison.change != FileChange::unchanged)
      TRY(write_file(scratch.path() / std::to_string(i), files[i].text, files[i].executable));
  for (const auto& file : files) TRY(make_directories((folder / file.path).parent_path()));
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].comparison.change == FileChange::unchanged) continue;
    std::error_code error;
    fs::rename(scratch.path() / std::to_string(i), folder / files[i].path, error);
    if (error)
      return fail(ErrorKind::usage, "FIL002",
                  fmt::format("{} cannot be written: {}", (folder / files[i].path).string(), error.message()));
  }
  return comparisons(files);
}

std::string generate_json(std::string_view kind, const Generated& generated,
                          const std::vector<FileComparison>& changes) {
  Json files = Json::array();
  for (const auto& change : changes)
    files.push_back({{"path", change.path},
                     {"change", to_string(change.change)},
                     {"lines_added", change.lines_added},
                     {"lines_removed", change.lines_removed}});
  return json_text({{"schema", "sagekit.generate/1"}, {"kind", kind}, {"files", files}, {"notes", generated.notes}});
}

}  // namespace sagekit
