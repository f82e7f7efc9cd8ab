#include "source/git_tree.hpp"

#include "support/file.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <span>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_id_digits = 40;

std::string object_id(std::string_view type, std::string_view bytes) {
  std::string text = fmt::format("{} {}", type, bytes.size());
  text.push_back('\0');
  text.append(bytes);
  return sha1_hex(text);
}

int nibble(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

std::string raw_bytes(std::string_view hex) {
  std::string raw;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    raw.push_back(static_cast<char>(nibble(hex[i]) * 16 + nibble(hex[i + 1])));
  return raw;
}

// Entries sorted by whole path come in git's own order: it sorts a folder as if its name ended in '/'.
std::string hash_level(std::span<const TreeEntry> entries, std::size_t skip) {
  std::string tree;
  const auto add = [&tree](std::string_view mode, std::string_view name, std::string_view id) {
    tree.append(mode).append(1, ' ').append(name).append(1, '\0').append(raw_bytes(id));
  };
  while (!entries.empty()) {
    const std::string_view name = std::string_view(entries.front().path).substr(skip);
    const auto slash = name.find('/');
    if (slash == std::string_view::npos) {
      add(entries.front().mode, name, entries.front().sha1);
      entries = entries.subspan(1);
      continue;
    }
    const std::string_view prefix = std::string_view(entries.front().path).substr(0, skip + slash + 1);
    std::size_t count = 1;
    while (count < entries.size() && entries[count].path.starts_with(prefix)) ++count;
    add("40000", name.substr(0, slash), hash_level(entries.first(count), prefix.size()));
    entries = entries.subspan(count);
  }
  return object_id("tree", tree);
}

bool is_id(std::string_view text) {
  return text.size() == k_id_digits &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool stays_inside(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) return false;
  const auto parts = split(path, '/');
  return std::ranges::none_of(
      parts, [](const std::string& part) { return part.empty() || part == "." || part == ".." || part == ".git"; });
}

std::unexpected<Error> unreadable(std::string message) { return fail(ErrorKind::usage, "SRC006", std::move(message)); }

Result<TreeEntry> checked(std::string_view mode, std::string_view id, std::string_view path) {
  TreeEntry entry{std::string(mode), std::string(path), std::string(id)};
  const bool known = mode == "100644" || mode == "100755" || mode == "120000" || mode == "160000";
  if (!known || !is_id(id) || !stays_inside(entry.path))
    return unreadable(fmt::format("\"{} {} {}\" is no line of a tree listing", mode, id, path));
  return entry;
}

}  // namespace

std::string blob_id(std::string_view bytes) { return object_id("blob", bytes); }

std::string tree_id(std::vector<TreeEntry> entries) {
  std::ranges::sort(entries, {}, &TreeEntry::path);
  return hash_level(entries, 0);
}

Result<TreeEntry> read_entry(const fs::path& folder, const std::string& path) {
  const fs::path file = folder / path;
  std::error_code error;
  const auto status = fs::symlink_status(file, error);
  if (fs::is_symlink(status)) {
    const auto target = fs::read_symlink(file, error);
    if (error) return unreadable(fmt::format("cannot read {}: {}", file.string(), error.message()));
    return TreeEntry{"120000", path, blob_id(target.string())};
  }
  if (!fs::is_regular_file(status)) return unreadable(fmt::format("{} is no file of a source tree", file.string()));
  TRY_ASSIGN(const MappedFile content, MappedFile::open(file));
  const bool executable = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
  return TreeEntry{executable ? "100755" : "100644", path, blob_id(content.bytes())};
}

Result<std::vector<TreeEntry>> list_folder(const fs::path& folder) {
  std::vector<TreeEntry> entries;
  std::error_code error;
  fs::recursive_directory_iterator walk(folder, error), end;
  for (; !error && walk != end; walk.increment(error)) {
    const auto name = walk->path().filename().string();
    std::error_code ignored;
    const auto status = walk->symlink_status(ignored);
    if (name == ".git" || (walk.depth() == 0 && name == k_tree_listing)) {
      if (fs::is_directory(status)) walk.disable_recursion_pending();
      continue;
    }
    if (fs::is_directory(status)) continue;
    TRY_ASSIGN(auto entry, read_entry(folder, walk->path().lexically_relative(folder).generic_string()));
    entries.push_back(std::move(entry));
  }
  if (error) return unreadable(fmt::format("cannot read {}: {}", folder.string(), error.message()));
  std::ranges::sort(entries, {}, &TreeEntry::path);
  return entries;
}

Result<std::vector<TreeEntry>> parse_tree_listing(std::string_view text) {
  std::vector<TreeEntry> entries;
  for (const auto& line : split(text, '\n')) {
    if (line.empty()) continue;
    const auto first = line.find(' ');
    const auto second = first == std::string::npos ? first : line.find(' ', first + 1);
    if (second == std::string::npos) return unreadable(fmt::format("\"{}\" is no line of a tree listing", line));
    const std::string_view view = line;
    TRY_ASSIGN(auto entry,
               checked(view.substr(0, first), view.substr(first + 1, second - first - 1), view.substr(second + 1)));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<std::vector<TreeEntry>> parse_ls_tree(std::string_view text) {
  std::vector<TreeEntry> entries;
  for (const auto& line : split(text, '\0')) {
    if (line.empty()) continue;
    const auto tab = line.find('\t');
    const auto words = split(line.substr(0, tab), ' ');
    if (tab == std::string::npos || words.size() != 3)
      return unreadable(fmt::format("git ls-tree wrote a line that is not understood: {}", line));
    TRY_ASSIGN(auto entry, checked(words[0], words[2], std::string_view(line).substr(tab + 1)));
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string tree_listing(const std::vector<TreeEntry>& entries) {
  std::string text;
  for (const auto& entry : entries) text += fmt::format("{} {} {}\n", entry.mode, entry.sha1, entry.path);
  return text;
}

}  // namespace sagekit
