#include "toolchain/lock.hpp"

#include "support/file.hpp"
#include "support/format.hpp"
#include "support/kept_toml.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/toml.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <tuple>

namespace sagekit {

namespace {

constexpr std::int64_t k_version = 1;

/// A TOML basic string. What is written here are names, versions and hashes; anything else is escaped all the same.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      result += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result + '"';
}

void add_line(std::string& text, std::string_view key, std::string_view value) {
  if (!value.empty()) text += fmt::format("{} = {}\n", key, quoted(value));
}

std::string hash_at(TomlTable& row, std::string_view key) {
  auto value = row.string(key).value_or("");
  if (!value.empty() && !is_sha256(value)) row.error(key, "LCK006", "not a sha256 of 64 hexadecimal digits");
  return value;
}

LockedFile read_locked_file(TomlTable& row) {
  LockedFile file;
  file.project = row.required_string("project");
  file.version = row.required_string("version");
  file.name = row.required_string("name");
  file.size_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(row.integer("size_bytes").value_or(0), 0));
  file.sha256 = hash_at(row, "sha256");
  file.record_sha256 = hash_at(row, "record_sha256");
  file.directory_sha256 = hash_at(row, "directory_sha256");
  row.finish();
  return file;
}

LockedTree read_locked_tree(TomlTable& row) {
  LockedTree tree;
  const auto kind = row.required_string("kind");
  if (kind != "nvcc" && kind != "torch" && !kind.empty()) row.error("kind", "LCK006", "a kind is nvcc or torch");
  tree.kind = kind == "torch" ? TreeKind::torch : TreeKind::nvcc;
  tree.version = row.required_string("version");
  tree.cuda = row.required_string("cuda");
  tree.platform = row.required_string("platform");
  const auto source = row.required_string("source");
  const auto known = parse_tool_source(source);
  if (known == ToolSource::wheels || known == ToolSource::redist)
    tree.source = *known;
  else if (!source.empty())
    row.error("source", "LCK006", "a source is wheels or redist");
  tree.id = row.required_string("id");
  if (tree.id.find('/') != std::string::npos || tree.id.starts_with('.'))
    row.error("id", "LCK006", "an id is the name of a folder");
  for (auto& file : row.tables("file")) tree.files.push_back(read_locked_file(file));
  for (auto& item : row.tables("exports")) {
    tree.exports.push_back({item.required_string("library"), hash_at(item, "sha256")});
    item.finish();
  }
  row.finish();
  return tree;
}

void sort_parts(LockedTree& tree) {
  std::ranges::sort(tree.files, {}, [](const LockedFile& f) { return std::tie(f.project, f.name); });
  std::ranges::sort(tree.exports, {}, &LockedExports::library);
}

}  // namespace

std::string_view to_string(TreeKind kind) { return kind == TreeKind::torch ? "torch" : "nvcc"; }

bool answers(const LockedTree& tree, const TreeNeed& need) {
  return tree.kind == need.kind && tree.cuda == need.cuda && tree.platform == need.platform &&
         (need.kind == TreeKind::nvcc || tree.version == need.torch);
}

TreeNeed need_of(const LockedTree& tree) {
  return {tree.kind, tree.cuda, tree.kind == TreeKind::torch ? tree.version : std::string(), tree.platform};
}

TreeNeed need_of(const Tree& tree) {
  return {tree.kind, tree.cuda, tree.kind == TreeKind::torch ? tree.version : std::string(), tree.platform};
}

const LockedTree* Lock::find(const TreeNeed& need) const {
  const auto found = std::ranges::find_if(trees, [&](const LockedTree& tree) { return answers(tree, need); });
  return found == trees.end() ? nullptr : &*found;
}

void Lock::set(LockedTree tree) {
  const auto need = need_of(tree);
  std::erase_if(trees, [&](const LockedTree& old) { return answers(old, need); });
  sort_parts(tree);
  trees.push_back(std::move(tree));
  std::ranges::sort(trees, {}, [](const LockedTree& t) { return std::tie(t.kind, t.cuda, t.version, t.platform); });
}

std::string lock_text(const Lock& lock) {
  std::string text = fmt::format(
      "# Written by sagekit: the files that provisioned toolchains are made of. Keep it under version control; with\n"
      "# --locked nothing else is used. docs/toolchains.md says what each hash is of.\nversion = {}\n",
      k_version);
  for (const auto& tree : lock.trees) {
    text += "\n[[tree]]\n";
    add_line(text, "kind", to_string(tree.kind));
    add_line(text, "version", tree.version);
    add_line(text, "cuda", tree.cuda);
    add_line(text, "platform", tree.platform);
    add_line(text, "source", to_string(tree.source));
    add_line(text, "id", tree.id);
    for (const auto& file : tree.files) {
      text += "\n[[tree.file]]\n";
      add_line(text, "project", file.project);
      add_line(text, "version", file.version);
      add_line(text, "name", file.name);
      if (file.size_bytes > 0) text += fmt::format("size_bytes = {}\n", file.size_bytes);
      add_line(text, "sha256", file.sha256);
      add_line(text, "record_sha256", file.record_sha256);
      add_line(text, "directory_sha256", file.directory_sha256);
    }
    for (const auto& item : tree.exports) {
      text += "\n[[tree.exports]]\n";
      add_line(text, "library", item.library);
      add_line(text, "sha256", item.sha256);
    }
  }
  return text;
}

Result<Lock> parse_lock(std::string_view text, std::string_view origin, const std::filesystem::path& kept) {
  const auto document = parse_toml(text, origin, "LCK", kept);
  auto root = document.root();
  const auto version = root.integer("version");
  if (version && *version > k_version)
    return fail(ErrorKind::usage, "PRV003", fmt::format("{} is of a later sagekit: version {}", origin, *version),
                "use that sagekit, or move the file away and let this one write its own");
  if (document.parsed()) root.require("version");
  Lock lock;
  for (auto& row : root.tables("tree")) lock.trees.push_back(read_locked_tree(row));
  root.finish();
  const auto problems = document.diagnostics();
  if (problems.empty()) return lock;
  const auto& first = problems.front();
  return fail(ErrorKind::usage, "PRV003",
              fmt::format("{}:{}:{} cannot be read: {}", origin, first.where.line, first.where.column, first.message),
              "mend it, or move it away and let sagekit write it anew");
}

Result<Lock> read_lock(const std::filesystem::path& path, const std::filesystem::path& kept) {
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return Lock{};
  TRY_ASSIGN(const auto text, read_file(path));
  return parse_lock(text, path.string(), kept);
}

}  // namespace sagekit
