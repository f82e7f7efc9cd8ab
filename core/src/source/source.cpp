#include "source/source.hpp"

#include "archive/archive.hpp"
#include "source/git_tree.hpp"
#include "support/format.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/shell_word.hpp>

#include <algorithm>
#include <optional>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

bool is_url(const std::string& text) {
  return text.find("://") != std::string::npos || (text.starts_with("git@") && text.find(':') != std::string::npos);
}

bool is_repository(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / ".git", error) ||
         (fs::is_regular_file(folder / "HEAD", error) && fs::is_directory(folder / "objects", error));
}

bool needed(const PinnedTree& pinned, const TreeEntry& entry) {
  if (entry.mode == "160000") return false;
  return pinned.include.empty() || globs_select(pinned.include, entry.path, true);
}

std::string short_id(const std::string& id) { return id.substr(0, 12); }

std::string how_to_give(const PinnedTree& pinned) {
  return pinned.name == k_source_name
             ? std::string("give a copy with --source: a folder, a git repository or an archive")
             : fmt::format("give a copy with --vendored {}=DIR", pinned.name);
}

class Git {
 public:
  enum class Owner { anybody, a_store };
  Git(const SourceTools& tools, fs::path repository, Owner owner = Owner::anybody)
      : m_tools(tools), m_repository(std::move(repository)), m_owner(owner) {}

  /// A git that ran; `error` in words when it could not.
  Result<CommandResult> run(std::vector<std::string> arguments) const {
    Command command;
    command.argv = {"git", "-C", m_repository.string()};
    // Git keeps out of what other users own, for its configuration may start programs. Whose store is used is trusted
    // with more than that: its compilers are started.
    if (m_owner == Owner::a_store) command.argv.insert(command.argv.end(), {"-c", "safe.directory=*"});
    command.environment = m_tools.environment;
    std::ranges::move(arguments, std::back_inserter(command.argv));
    command.environment["GIT_TERMINAL_PROMPT"] = "0";
    // A partial clone fetches what it lacks by itself, whatever command it was.
    if (m_tools.offline) command.environment["GIT_ALLOW_PROTOCOL"] = "file";
    command.environment["LC_ALL"] = "C";
    command.separate_stderr = true;
    auto result = m_tools.runner.run(command, m_tools.stop);
    if (!result && result.error().kind == ErrorKind::machine)
      return fail(ErrorKind::machine, "SRC007", "git could not be started: " + result.error().message,
                  "install git, or give --source a folder or an archive");
    return result;
  }

  /// The output of a git that succeeded.
  Result<std::string> ask(std::vector<std::string> arguments, ErrorKind kind, std::string code,
                          std::string_view what) const {
    TRY_ASSIGN(const auto result, run(std::move(arguments)));
    if (!result.ok())
      return fail(kind, std::move(code),
                  fmt::format("cannot {} {}: {}", what, m_repository.string(), trim(result.error_output)));
    return result.output;
  }

  const fs::path& repository() const { return m_repository; }

 private:
  const SourceTools& m_tools;
  fs::path m_repository;
  Owner m_owner;
};

Result<bool> has_commit(const Git& git, const std::string& commit) {
  TRY_ASSIGN(const auto result, git.run({"rev-parse", "--verify", "--quiet", commit + "^{commit}"}));
  return result.ok();
}

std::unexpected<Error> wrong_content(const PinnedTree& pinned, const std::string& where, const std::string& found) {
  return fail(ErrorKind::usage, "SRC003",
              fmt::format("{} at {} is not the pinned one: its tree is {}, commit {} has tree {}", pinned.name, where,
                          found, short_id(pinned.commit), pinned.tree),
              "give an unchanged copy of that commit, or choose with --revision the one that this is", where);
}

/// Every file of the whole tree as the repository has it; the tree id is computed from it, not believed.
Result<std::vector<TreeEntry>> list_commit(const PinnedTree& pinned, const Git& git) {
  const auto where = git.repository().string();
  TRY_ASSIGN(const bool there, has_commit(git, pinned.commit));
  if (!there) {
    // Where git works not at all, because another user owns it for example, that says nothing of commits.
    TRY_ASSIGN(const auto works, git.run({"rev-parse", "--git-dir"}));
    if (!works.ok())
      return fail(ErrorKind::usage, "SRC006",
                  fmt::format("git does not read {} at {}: {}", pinned.name, where, trim(works.error_output)),
                  fmt::format("git -C {} log must work for this user; or give a folder without .git, or an archive",
                              shell_word(where)),
                  where);
    TRY_ASSIGN(const auto head, git.run({"rev-parse", "--short=12", "HEAD"}));
    return fail(ErrorKind::usage, "SRC002",
                fmt::format("{} at {} has no commit {}{}", pinned.name, where, pinned.commit,
                            head.ok() ? "; it is at " + trim(head.output) : ""),
                "fetch that commit into it, or choose another one with --revision", where);
  }
  TRY_ASSIGN(const auto text, git.ask({"ls-tree", "-r", "-z", pinned.commit}, ErrorKind::usage, "SRC006", "list"));
  TRY_ASSIGN(auto entries, parse_ls_tree(text));
  if (const auto found = tree_id(entries); !pinned.tree.empty() && found != pinned.tree)
    return wrong_content(pinned, where, found);
  return entries;
}

/// All that is needed is there and is what the listing says; nothing else is.
Status check_files(const PinnedTree& pinned, const fs::path& folder, const std::vector<TreeEntry>& listing) {
  TRY_ASSIGN(const auto present, list_folder(folder));
  std::map<std::string, const TreeEntry*> wanted;
  for (const auto& entry : listing) wanted.emplace(entry.path, &entry);
  for (const auto& entry : present) {
    const auto found = wanted.find(entry.path);
    if (found == wanted.end() || *found->second != entry)
      return fail(
          ErrorKind::usage, "SRC003",
          fmt::format("{} of {} is not the pinned one: {}", entry.path, pinned.name,
                      found == wanted.end() ? "the pinned tree has no such file"
                                            : fmt::format("it is {} {}, pinned is {} {}", entry.mode, entry.sha1,
                                                          found->second->mode, found->second->sha1)),
          "give an unchanged copy of commit " + short_id(pinned.commit), (folder / entry.path).string());
    wanted.erase(found);
  }
  const auto missing =
      std::ranges::find_if(listing, [&](const TreeEntry& e) { return wanted.contains(e.path) && needed(pinned, e); });
  if (missing == listing.end()) return {};
  return fail(ErrorKind::usage, "SRC008",
              fmt::format("{} at {} lacks {}, which the build needs", pinned.name, folder.string(), missing->path),
              "give the whole tree of commit " + short_id(pinned.commit));
}

/// A folder without git: it vouches for itself by its content.
Result<std::vector<TreeEntry>> check_plain_folder(const PinnedTree& pinned, const fs::path& folder,
                                                  const std::string& where) {
  if (pinned.tree.empty())
    return fail(ErrorKind::usage, "SRC006",
                fmt::format("{} has no pinned tree id, so the folder {} cannot be checked", pinned.name, where),
                "give a git repository that has commit " + short_id(pinned.commit));
  const fs::path listing_file = folder / k_tree_listing;
  std::error_code error;
  if (!fs::exists(listing_file, error)) {
    TRY_ASSIGN(auto entries, list_folder(folder));
    if (const auto found = tree_id(entries); found != pinned.tree) return wrong_content(pinned, where, found);
    return entries;
  }
  TRY_ASSIGN(const auto text, read_file(listing_file));
  TRY_ASSIGN(auto listing, parse_tree_listing(text));
  if (const auto found = tree_id(listing); found != pinned.tree) return wrong_content(pinned, where, found);
  TRY(check_files(pinned, folder, listing));
  return listing;
}

Result<std::vector<TreeEntry>> export_folder(const PinnedTree& pinned, const fs::path& folder, const std::string& where,
                                             const fs::path& into) {
  TRY_ASSIGN(auto listing, check_plain_folder(pinned, folder, where));
  for (const auto& entry : listing) {
    const fs::path from = folder / entry.path, to = into / entry.path;
    std::error_code error;
    if (!needed(pinned, entry)) continue;
    TRY(make_directories(to.parent_path()));
    fs::copy(from, to, fs::copy_options::copy_symlinks, error);
    if (error)
      return fail(ErrorKind::usage, "SRC006", fmt::format("cannot copy {}: {}", from.string(), error.message()));
  }
  TRY(check_files(pinned, into, listing));
  return listing;
}

Result<std::vector<TreeEntry>> export_commit(const PinnedTree& pinned, const Git& git, const fs::path& into,
                                             const SourceTools& tools) {
  TRY_ASSIGN(auto listing, list_commit(pinned, git));
  TRY_ASSIGN(const TemporaryFolder scratch, tools.store.temporary());
  const fs::path tar = scratch.path() / "tree.tar";
  std::vector<std::string> arguments{"archive", "--format=tar", "-o", tar.string(), pinned.commit};
  if (!pinned.include.empty()) arguments.push_back("--");
  for (const auto& glob : pinned.include)
    // Git refuses a pattern that matches nothing; a spec's list serves several revisions.
    if (std::ranges::any_of(listing, [&](const TreeEntry& e) { return glob_match(glob, e.path, true); }))
      arguments.push_back(":(glob)" + glob);
  TRY(git.ask(std::move(arguments), ErrorKind::usage, "SRC006", "export from"));
  TRY(unpack_archive(tar, into));
  // What an exclusion takes away again, git does not know of.
  for (const auto& entry : listing)
    if (!needed(pinned, entry)) remove_quietly(into / entry.path);
  TRY(check_files(pinned, into, listing));
  return listing;
}

fs::path cache_of(const std::string& url, const fs::path& store) {
  return store / "git" / (sha256_hex(url).substr(0, 16) + ".git");
}

/// Has git's cache the commit? SRC001 where it has not and no connection is allowed.
Result<bool> is_cached(const PinnedTree& pinned, const std::string& url, const Git& cache, const SourceTools& tools) {
  TRY_ASSIGN(const bool there, has_commit(cache, pinned.commit));
  if (there || !tools.offline || url.starts_with("file://")) return there;
  return fail(ErrorKind::failed, "SRC001",
              fmt::format("commit {} of {} is not in the store, and --offline allows no connection to {}",
                          short_id(pinned.commit), pinned.name, url),
              "build once without --offline, or " + how_to_give(pinned), url);
}

Result<Git> fetched(const PinnedTree& pinned, const std::string& url, const SourceTools& tools) {
  if (!tools.read_only.empty()) {
    Git kept(tools, cache_of(url, tools.read_only), Git::Owner::a_store);
    TRY_ASSIGN(const bool there, has_commit(kept, pinned.commit));
    if (there) return kept;
  }
  const fs::path cache = cache_of(url, tools.store.root());
  TRY_ASSIGN(const auto lock, FileLock::acquire(fs::path(cache.string() + ".lock"), true));
  TRY(make_directories(cache));
  Git git(tools, cache, Git::Owner::a_store);
  std::error_code error;
  if (!fs::exists(cache / "HEAD", error))
    TRY(git.ask({"init", "--bare", "--quiet"}, ErrorKind::failed, "SRC001", "make"));
  TRY_ASSIGN(const bool there, is_cached(pinned, url, git, tools));
  if (there) return git;
  tools.say(fmt::format("fetching {} {} from {}", pinned.name, short_id(pinned.commit), url));
  TRY_ASSIGN(const auto result, git.run({"fetch", "--quiet", "--depth", "1", "--no-tags", "--", url, pinned.commit}));
  if (!result.ok())
    return fail(ErrorKind::failed, "SRC001",
                fmt::format("cannot fetch commit {} of {} from {}: {}", short_id(pinned.commit), pinned.name, url,
                            trim(result.error_output)),
                "check the network, or " + how_to_give(pinned), url);
  return git;
}

/// A work tree must show what it gives: it is at the pinned commit, and the files that are needed are that commit's.
/// A bare repository has no files that could differ.
Status refuse_changes(const PinnedTree& pinned, const Git& git, const std::vector<TreeEntry>& listing) {
  std::error_code error;
  const fs::path& folder = git.repository();
  if (!fs::exists(folder / ".git", error)) return {};
  TRY_ASSIGN(const auto head, git.run({"rev-parse", "HEAD"}));
  if (head.ok() && trim(head.output) != pinned.commit)
    return fail(ErrorKind::usage, "SRC011",
                fmt::format("{} at {} is at commit {}, the pinned one is {}", pinned.name, folder.string(),
                            trim(head.output), pinned.commit),
                fmt::format("git -C {} checkout {}, or choose another with --revision", shell_word(folder.string()),
                            short_id(pinned.commit)),
                folder.string());
  for (const auto& entry : listing) {
    if (!needed(pinned, entry)) continue;
    const auto present = read_entry(folder, entry.path);
    if (present && *present == entry) continue;
    return fail(ErrorKind::usage, "SRC012",
                fmt::format("{} of {} is changed: {}, in commit {} it is {} {}", entry.path, pinned.name,
                            present ? fmt::format("it is {} {}", present->mode, present->sha1) : "it is missing",
                            short_id(pinned.commit), entry.mode, entry.sha1),
                // No checkout of what is missing: the work tree may be another folder, whose changes would be lost.
                present ? fmt::format("git -C {} stash, or declare the change as a [[source.edit]]",
                                      shell_word(folder.string()))
                        : fmt::format("give {}, which needs no files", shell_word((folder / ".git").string())),
                (folder / entry.path).string());
  }
  return {};
}

/// Either kind of place that is no url, ready to be looked at.
struct Given {
  std::optional<TemporaryFolder> unpacked;  ///< of an archive
  fs::path folder;
  bool repository = false;
};

Result<Given> look_at(const PinnedTree& pinned, const std::string& given, const SourceTools& tools) {
  Given result;
  std::error_code error;
  if (fs::is_directory(given, error)) {
    result.folder = given;
    result.repository = is_repository(given);
    return result;
  }
  TRY(check_place(pinned.name, given));
  TRY_ASSIGN(auto scratch, tools.store.temporary());
  TRY(unpack_archive(given, scratch.path()));
  result.folder = strip_single_folder(scratch.path());
  result.unpacked.emplace(std::move(scratch));
  return result;
}

}  // namespace

Status check_place(const std::string& name, const std::string& given) {
  std::error_code error;
  if (given.empty() || is_url(given) || fs::is_directory(given, error) || fs::is_regular_file(given, error)) return {};
  return fail(ErrorKind::usage, "SRC006", fmt::format("{} at {}: there is no such file or folder", name, given),
              "give a folder, a git repository, an archive or a url", given);
}

Result<fs::path> look_for_tree(const PinnedTree& pinned, const std::string& given, const SourceTools& tools) {
  if (!given.empty() && !is_url(given)) return fs::path(given);
  const auto& url = given.empty() ? pinned.url : given;
  for (const auto& store : {tools.read_only, tools.store.root()}) {
    if (store.empty()) continue;
    auto cache = cache_of(url, store);
    const Git git(tools, cache, Git::Owner::a_store);
    TRY_ASSIGN(const bool there,
               store == tools.read_only ? has_commit(git, pinned.commit) : is_cached(pinned, url, git, tools));
    if (there) return cache;
  }
  return fs::path();
}

Result<std::vector<TreeEntry>> export_tree(const PinnedTree& pinned, const std::string& given, const fs::path& into,
                                           const SourceTools& tools) {
  if (given.empty() || is_url(given)) {
    TRY_ASSIGN(const Git git, fetched(pinned, given.empty() ? pinned.url : given, tools));
    return export_commit(pinned, git, into, tools);
  }
  TRY_ASSIGN(const auto place, look_at(pinned, given, tools));
  if (place.repository) {
    const Git git(tools, place.folder);
    return export_commit(pinned, git, into, tools);
  }
  return export_folder(pinned, place.folder, given, into);
}

Status check_given(const PinnedTree& pinned, const std::string& given, const SourceTools& tools) {
  if (given.empty() || is_url(given)) return {};
  TRY_ASSIGN(const auto place, look_at(pinned, given, tools));
  if (!place.repository) {
    TRY(check_plain_folder(pinned, place.folder, given));
    return {};
  }
  const Git git(tools, place.folder);
  TRY_ASSIGN(const auto listing, list_commit(pinned, git));
  return refuse_changes(pinned, git, listing);
}

}  // namespace sagekit
