#include "toolchain/pin_check.hpp"

#include "support/file.hpp"
#include "support/format.hpp"
#include "support/toml.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace sagekit {

namespace {

/// What differs: where in the entry ("file[2].sha256"), of what, and the two values.
struct Difference {
  std::string place, what, pinned, made_of;
};

std::string value_or_none(const std::string& value) { return value.empty() ? "nothing" : value; }

std::optional<Difference> file_differs(const LockedFile& pinned, const LockedFile& made_of, const std::string& place) {
  const auto size = [](const LockedFile& file) { return std::to_string(file.size_bytes); };
  const bool index_said = !pinned.sha256.empty() && !made_of.sha256.empty();
  const std::tuple<const char*, std::string, std::string> values[] = {
      {"version", pinned.version, made_of.version},
      {"name", pinned.name, made_of.name},
      {"size_bytes", size(pinned), size(made_of)},
      {"sha256", index_said ? pinned.sha256 : "", index_said ? made_of.sha256 : ""},
      {"record_sha256", pinned.record_sha256, made_of.record_sha256},
      {"directory_sha256", pinned.directory_sha256, made_of.directory_sha256}};
  for (const auto& [key, says, is] : values)
    if (says != is)
      return Difference{fmt::format("{}.{}", place, key), fmt::format("{} of {}", key, made_of.name), says, is};
  return std::nullopt;
}

template <class Row, class Key>
const Row* row_of(const std::vector<Row>& rows, const std::string& name, Key key) {
  const auto found = std::ranges::find(rows, name, key);
  return found == rows.end() ? nullptr : &*found;
}

std::optional<Difference> rows_differ(const LockedTree& pinned, const LockedTree& made_of) {
  for (std::size_t i = 0; i < pinned.files.size(); ++i) {
    const auto& file = pinned.files[i];
    const auto place = fmt::format("file[{}]", i);
    const auto* is = row_of(made_of.files, file.project, &LockedFile::project);
    if (is == nullptr) return Difference{place, "file of " + file.project, file.name, ""};
    if (auto difference = file_differs(file, *is, place)) return difference;
  }
  for (std::size_t i = 0; i < pinned.exports.size(); ++i) {
    const auto& row = pinned.exports[i];
    const auto place = fmt::format("exports[{}]", i);
    const auto* is = row_of(made_of.exports, row.library, &LockedExports::library);
    if (is == nullptr || is->sha256 != row.sha256)
      return Difference{place + ".sha256", "sha256 of the exports of " + row.library, row.sha256,
                        is == nullptr ? "" : is->sha256};
  }
  for (const auto& file : made_of.files)
    if (row_of(pinned.files, file.project, &LockedFile::project) == nullptr)
      return Difference{"", "file of " + file.project, "", file.name};
  for (const auto& row : made_of.exports)
    if (row_of(pinned.exports, row.library, &LockedExports::library) == nullptr)
      return Difference{"", "sha256 of the exports of " + row.library, "", row.sha256};
  if (pinned.files.size() != made_of.files.size() || pinned.exports.size() != made_of.exports.size())
    return Difference{"", "number of files and exports", std::to_string(pinned.files.size() + pinned.exports.size()),
                      std::to_string(made_of.files.size() + made_of.exports.size())};
  return std::nullopt;
}

std::optional<Difference> differs(const LockedTree& pinned, const LockedTree& made_of) {
  const std::tuple<const char*, std::string, std::string> values[] = {
      {"kind", std::string(to_string(pinned.kind)), std::string(to_string(made_of.kind))},
      {"version", pinned.version, made_of.version},
      {"cuda", pinned.cuda, made_of.cuda},
      {"platform", pinned.platform, made_of.platform},
      {"source", std::string(to_string(pinned.source)), std::string(to_string(made_of.source))},
      {"id", pinned.id, made_of.id.empty() ? pinned.id : made_of.id}};
  for (const auto& [key, says, is] : values)
    if (says != is) return Difference{key, key, says, is};
  return rows_differ(pinned, made_of);
}

/// "sagekit.lock:19"; the entry's own line where what differs is not in it.
std::string place_in(const std::filesystem::path& lock, const LockedTree& pinned, const std::string& place) {
  const auto text = read_file(lock);
  if (!text) return lock.string();
  const auto parsed = parse_lock(*text, lock.string());
  if (!parsed) return lock.string();
  const auto found = std::ranges::find(parsed->trees, pinned);
  if (found == parsed->trees.end()) return lock.string();
  const auto entry = fmt::format("tree[{}]", found - parsed->trees.begin());
  const auto where =
      TomlDocument::parse(*text, lock.string(), "LCK").where(place.empty() ? entry : entry + "." + place);
  return where.line > 0 ? fmt::format("{}:{}", lock.string(), where.line) : lock.string();
}

}  // namespace

Status check_made_of(const LockedTree& pinned, const LockedTree& made_of, const ProvisionOptions& options) {
  const auto difference = differs(pinned, made_of);
  if (!difference) return {};
  return fail(
      ErrorKind::failed, "PRV006",
      fmt::format("{} pins {} as {} of {}, which was made with {}", place_in(options.lock, pinned, difference->place),
                  value_or_none(difference->pinned), difference->what, pinned.id, value_or_none(difference->made_of)),
      "the lock was edited, or the tree is another one: put back the lock that was committed; when that one is "
      "right, sagekit toolchain remove " +
          pinned.id + options.store_flag + " and fetch anew");
}

}  // namespace sagekit
