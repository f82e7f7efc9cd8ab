#include "toolchain/tree_store.hpp"

#include "environment/probe.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/shell_word.hpp>

#include <algorithm>
#include <set>
#include <tuple>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr const char* k_pins = "tree.toml";
constexpr const char* k_sums = "SHA256SUMS";

/// Relative, without "." and "..", nothing that a listing could not hold.
bool is_safe(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find_first_of("\\\n\r") != std::string_view::npos ||
      path.find('\0') != std::string_view::npos)
    return false;
  for (const auto& part : split(path, '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return path != k_pins && path != k_sums;
}

std::string key_of(const TreeNeed& need) {
  return need.kind == TreeKind::nvcc
             ? fmt::format("nvcc-{}-{}", need.cuda, need.platform)
             : fmt::format("torch-{}-cu{}-{}", need.torch, without_dots(need.cuda), need.platform);
}

/// As `sha256sum` writes them, sorted by path.
std::string sums_text(const std::map<std::string, std::string>& sums) {
  std::string text;
  for (const auto& [path, sha256] : sums) text += fmt::format("{}  {}\n", sha256, path);
  return text;
}

Result<std::map<std::string, std::string>> read_sums(const fs::path& folder) {
  TRY_ASSIGN(const auto text, read_file(folder / k_sums));
  std::map<std::string, std::string> sums;
  for (const auto& line : split(text, '\n')) {
    if (line.empty()) continue;
    if (line.size() < 67 || line[64] != ' ' || line[65] != ' ' || !is_safe(std::string_view(line).substr(66)))
      return fail(ErrorKind::failed, "PRV004", fmt::format("{} is damaged", (folder / k_sums).string()),
                  "remove the tree; it is fetched again when it is needed");
    sums[line.substr(66)] = line.substr(0, 64);
  }
  return sums;
}

/// Ends in a hash over what was fetched: of link stubs the lists that they were made from, not the bytes that this
/// sagekit makes of them.
std::string id_of(const LockedTree& pins, std::map<std::string, std::string> sums) {
  for (const auto& row : pins.exports) {
    std::erase_if(sums, [&](const auto& item) { return item.first.ends_with("/lib/" + row.library); });
    sums["exports of " + row.library] = row.sha256;
  }
  const auto content = sha256_hex(sums_text(sums)).substr(0, 12);
  if (pins.kind == TreeKind::nvcc) return fmt::format("nvcc-{}-{}-{}", pins.version, pins.platform, content);
  return fmt::format("torch-{}-cu{}-{}-{}", pins.version, without_dots(pins.cuda), pins.platform, content);
}

/// Every file and link below a folder, by relative path, and the folders that this user may not list. Others do not
/// count.
struct Below {
  std::set<std::string> files;
  std::map<std::string, std::error_code> closed;

  bool hidden(fs::path path) const {
    while (!path.empty() && !closed.contains(path.generic_string())) path = path.parent_path();
    return !path.empty();
  }
};

Below files_below(const fs::path& folder) {
  Below found;
  const auto skip = fs::directory_options::skip_permission_denied;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, skip, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    const auto path = it->path().lexically_relative(folder).generic_string();
    if (it->is_symlink(ignored) || !it->is_directory(ignored))
      found.files.insert(path);
    else if (const auto closed = cannot_read(it->path()))
      found.closed[path] = closed;
  }
  return found;
}

/// One of which nothing is known but its name.
Tree broken(const fs::path& folder) {
  Tree tree;
  tree.id = folder.filename().string();
  tree.folder = folder;
  return tree;
}

bool is_nvcc_program(const fs::path& path) {
  const auto folder = path.parent_path();
  return (folder == "bin" || folder == "nvvm/bin") && std::ranges::count(k_nvcc_programs, path.filename().string()) > 0;
}

bool is_named_as_tree(const fs::path& entry) {
  const auto name = entry.filename().string();
  return name.starts_with("nvcc-") || name.starts_with("torch-");
}

std::string closed_sentence(const fs::path& path, const std::error_code& error) {
  return fmt::format("{} cannot be read: {}", path.string(), error.message());
}

Error closed(const fs::path& path, const std::error_code& error) {
  return {ErrorKind::usage, "FIL001", closed_sentence(path, error), path.string(), "check its owner and permissions"};
}

constexpr const char* k_removed = ".removed-";

/// What a removal that was killed left behind.
std::vector<fs::path> finish_removals(const fs::path& store) {
  auto begun = entries_of(store);
  std::erase_if(begun, [](const fs::path& entry) { return !entry.filename().string().starts_with(k_removed); });
  for (const auto& folder : begun) remove_quietly(folder);
  return begun;
}

}  // namespace

Result<TreeStage> TreeStage::open(const fs::path& store, const TreeNeed& need, const std::function<void()>& waiting) {
  const fs::path base = store / ".partial" / key_of(need);
  TRY(make_directories(base / "tree"));
  const fs::path file = base.string() + ".lock";
  TRY_ASSIGN(auto at_once, FileLock::acquire(file, false));
  if (!at_once) waiting();
  TRY_ASSIGN(auto lock, at_once ? Result<std::optional<FileLock>>(std::move(at_once)) : FileLock::acquire(file, true));
  finish_removals(store);
  TRY(make_directories(base / "tree"));  // another process may have removed it before this one had the lock
  return TreeStage(std::move(*lock), base);
}

bool TreeStage::has(const std::string& path, const std::string& sha256) {
  std::error_code error;
  const fs::path file = m_folder / path;
  if (!is_safe(path) || fs::symlink_status(file, error).type() != fs::file_type::regular) return false;
  const auto hash = sha256_file(file);
  if (!hash || *hash != sha256) return false;
  m_sums[path] = sha256;
  return true;
}

Status TreeStage::add(const std::string& path, std::string_view bytes, bool executable) {
  if (!is_safe(path))
    return fail(ErrorKind::failed, "PRV005",
                fmt::format("a file named \"{}\" is refused: it would not stay in its tree", path));
  // A link that a stopped process made stands for itself, not for what it leads to.
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(m_folder / path, error))) fs::remove(m_folder / path, error);
  TRY(write_file(m_folder / path, bytes, executable));
  m_sums[path] = sha256_hex(bytes);
  return {};
}

Status TreeStage::link(const std::string& path, const std::string& target) {
  std::error_code error;
  fs::remove(m_folder / path, error);
  fs::create_symlink(target, m_folder / path, error);
  const auto hash = sha256_file(m_folder / path);
  if (error || !hash) return fail(ErrorKind::failed, "PRV005", fmt::format("cannot link {} to {}", path, target));
  m_sums[path] = *hash;
  return {};
}

Result<Tree> TreeStage::publish(const fs::path& store, LockedTree& pins, const std::string& expected) {
  for (const auto& path : files_below(m_folder).files)
    if (!m_sums.contains(path)) {
      std::error_code ignored;
      fs::remove(m_folder / path, ignored);
    }
  pins.id = id_of(pins, m_sums);
  if (!expected.empty() && pins.id != expected)
    return fail(ErrorKind::failed, "PRV006", fmt::format("what was fetched is {}, the lock pins {}", pins.id, expected),
                "its files were replaced where they are published, or the lock is another sagekit's");
  Lock made_of;
  made_of.set(pins);
  TRY(write_file(m_folder / k_sums, sums_text(m_sums)));
  TRY(write_file(m_folder / k_pins, lock_text(made_of)));
  const fs::path name = store / pins.id;
  std::error_code error;
  if (fs::exists(fs::symlink_status(name, error)) && !read_tree(name)) TRY(remove_tree(broken(name)));
  TRY(publish_folder(m_folder, name));
  remove_quietly(m_base);
  return read_tree(name);
}

Result<LockedTree> read_pins(const fs::path& folder) {
  TRY_ASSIGN(const auto text, read_file(folder / k_pins));
  TRY_ASSIGN(auto lock, parse_lock(text, (folder / k_pins).string()));
  if (lock.trees.size() != 1 || lock.trees.front().id != folder.filename())
    return fail(ErrorKind::failed, "PRV004", fmt::format("{} is not what its {} says", folder.string(), k_pins),
                "remove it; it is fetched again when it is needed");
  return std::move(lock.trees.front());
}

Result<Tree> read_tree(const fs::path& folder) {
  TRY_ASSIGN(const auto pins, read_pins(folder));
  Tree tree;
  tree.kind = pins.kind;
  tree.version = pins.version;
  tree.cuda = pins.cuda;
  tree.platform = pins.platform;
  tree.source = pins.source;
  tree.id = pins.id;
  tree.folder = folder;
  return tree;
}

std::string lost_part(const Tree& tree) {
  const auto text = read_file(tree.folder / k_sums);
  if (!text) return cannot_read(tree.folder / k_sums) == std::errc::permission_denied ? "" : fmt::format("{} is missing", k_sums);
  std::map<std::string, std::size_t, std::less<>> folders;
  for (std::string_view rest = *text; rest.size() > 66;) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.size() < 67) continue;
    const auto path = line.substr(66);
    const auto folder = path.substr(0, path.rfind('/') == path.npos ? 0 : path.rfind('/'));
    const auto known = folders.find(folder);
    ++(known == folders.end() ? folders[std::string(folder)] : known->second);
  }
  for (const auto& [folder, count] : folders) {
    std::size_t there = 0;
    std::error_code error, ignored;
    for (fs::directory_iterator it(tree.folder / folder, error), end; !error && it != end; it.increment(error))
      if (it->is_symlink(ignored) || !it->is_directory(ignored)) ++there;
    if (error == std::errc::no_such_file_or_directory) {
      fs::path lost = folder;
      while (lost.has_parent_path() && !fs::exists(tree.folder / lost.parent_path(), ignored))
        lost = lost.parent_path();
      return lost.generic_string() + " is missing";
    }
    if (!error && there < count) return fmt::format("{} of {} files in {} are missing", count - there, count, folder);
  }
  return {};
}

std::vector<Tree> trees(const fs::path& store) {
  std::vector<Tree> found;
  for (const auto& entry : entries_of(store)) {
    if (entry.filename().string().starts_with('.')) continue;
    if (auto tree = read_tree(entry)) found.push_back(std::move(*tree));
  }
  const auto newest_first = [](const Tree& a, const Tree& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    const auto left = parse_version_number(a.version), right = parse_version_number(b.version);
    if (left && right && *left != *right) return *left > *right;
    return a.id < b.id;
  };
  std::ranges::sort(found, newest_first);
  return found;
}

std::vector<Error> closed_trees(const fs::path& store) {
  if (const auto error = cannot_read(store)) return {closed(store, error)};
  std::vector<Error> found;
  for (const auto& entry : entries_of(store)) {
    if (!is_named_as_tree(entry)) continue;
    for (const auto& path : {entry, entry / k_pins})
      if (const auto error = cannot_read(path)) {
        found.push_back(closed(path, error));
        break;
      }
  }
  return found;
}

Result<std::vector<Tree>> broken_trees(const fs::path& store) {
  std::error_code error;
  fs::directory_iterator(store, error);
  if (error && error != std::errc::no_such_file_or_directory) return std::unexpected(closed(store, error));
  std::vector<Tree> found;
  for (const auto& entry : entries_of(store))
    if (is_named_as_tree(entry) && fs::is_directory(entry, error) && !read_tree(entry)) found.push_back(broken(entry));
  return found;
}

Result<std::vector<std::string>> verify_tree(const Tree& tree) {
  for (const auto* own : {k_sums, k_pins})
    if (const auto error = cannot_read(tree.folder / own)) return std::unexpected(closed(tree.folder / own, error));
  TRY_ASSIGN(const auto sums, read_sums(tree.folder));
  TRY_ASSIGN(const auto pins, read_pins(tree.folder));
  std::vector<std::string> wrong;
  if (id_of(pins, sums) != tree.id)
    wrong.push_back(fmt::format("{} is not the list that the tree was published with", k_sums));
  auto below = files_below(tree.folder);
  auto& there = below.files;
  for (const auto& [path, error] : below.closed) wrong.push_back(closed_sentence(path, error));
  for (const auto* own : {k_sums, k_pins}) there.erase(own);
  for (const auto& [path, sha256] : sums) {
    if (there.erase(path) == 0) {
      if (!below.hidden(path)) wrong.push_back(path + " is missing");
      continue;
    }
    const auto hash = sha256_file(tree.folder / path);
    if (const auto error = hash ? std::error_code() : cannot_read(tree.folder / path))
      wrong.push_back(closed_sentence(path, error));
    else if (!hash)
      wrong.push_back(fmt::format("{} cannot be read", path));
    else if (*hash != sha256)
      wrong.push_back(fmt::format("{} was altered: its sha256 is {}, not {}", path, *hash, sha256));
    // On a noexec mount nothing may be executed, and the tree is not at fault: doctor and build say so.
    else if (tree.kind == TreeKind::nvcc && is_nvcc_program(path) && !is_executable(tree.folder / path) &&
             !is_on_noexec(tree.folder / path))
      wrong.push_back(fmt::format("{} {}: its mode was lost, as by a copy that keeps none", path, k_not_executable));
  }
  for (const auto& path : there) wrong.push_back(path + " does not belong to it");
  return wrong;
}

std::string chmod_programs(const fs::path& toolkit) {
  const auto folder = shell_word(toolkit.string());
  return fmt::format("chmod a+x {}/bin/* {}/nvvm/bin/*", folder, folder);
}

Status remove_tree(const Tree& tree) {
  // Out of sight first: a tree that is half removed must not be found.
  const fs::path away = tree.folder.parent_path() / (k_removed + tree.id);
  finish_removals(tree.folder.parent_path());
  std::error_code error;
  fs::rename(tree.folder, away, error);
  if (error)
    return fail(ErrorKind::usage, "FIL002", fmt::format("cannot remove {}: {}", tree.folder.string(), error.message()),
                "check its owner and permissions");
  fs::remove_all(away, error);
  if (error)
    return fail(ErrorKind::usage, "FIL002", fmt::format("cannot remove {}: {}", away.string(), error.message()),
                "check its owner and permissions");
  return {};
}

Result<std::vector<fs::path>> remove_unfinished(const fs::path& store) {
  auto removed = finish_removals(store);
  std::error_code ignored;
  for (fs::path base : entries_of(store / ".partial")) {
    if (base.extension() == ".lock") base.replace_extension();
    const fs::path file = base.string() + ".lock";
    TRY_ASSIGN(const auto lock, FileLock::acquire(file, false));
    if (!lock) continue;  // a fetch that lives
    if (fs::exists(fs::symlink_status(base, ignored))) removed.push_back(base);
    remove_quietly(base);
    remove_quietly(file);
  }
  return removed;
}

}  // namespace sagekit
