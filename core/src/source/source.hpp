#pragma once
// Pinned trees: found at the place the user gave or at their url, checked file by file against the pinned tree id, and
// written to a folder. What is not the pinned content is refused with both ids.

#include "source/git_tree.hpp"
#include "store/store.hpp"

#include <sagekit/command.hpp>
#include <sagekit/error.hpp>
#include <sagekit/log.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace sagekit {

constexpr std::string_view k_source_name = "the source";

struct PinnedTree {
  std::string name;  ///< k_source_name, "cutlass": for messages
  std::string url, commit;
  std::string tree;                  ///< git tree id; "" = not known, then only git can vouch for it
  std::vector<std::string> include;  ///< globs of what is needed; empty = all
};

/// What fetching needs of the world.
struct SourceTools {
  const Store& store;
  CommandRunner& runner;
  std::map<std::string, std::string> environment;  ///< of git
  std::function<void(const std::string&)> say;     ///< "fetching ..."
  std::stop_token stop;
  LogSink log = {};
  bool offline = false;  ///< git gets no connection, nor starts one by itself
  /// A store that cannot be written: what `store` lacks may be in its sources and git caches. "" = none.
  std::filesystem::path read_only = {};
};

/// Writes the needed files of a tree into the folder `into`; what comes back lists the whole tree. `given`: "" = the
/// pinned url; a url; a git repository or work tree (at the pinned commit and unchanged); a plain folder; an archive. A
/// plain folder holds the whole tree, or lists it in `.sagekit-tree` and holds what is needed. Errors (usage unless
/// said): SRC001 cannot or must not be fetched (failed), SRC002 no such commit there, SRC003 not the pinned content,
/// SRC005 bad archive, SRC006 no source at that place, SRC007 no git (machine), SRC008 needed files are missing.
Result<std::vector<TreeEntry>> export_tree(const PinnedTree& pinned, const std::string& given,
                                           const std::filesystem::path& into, const SourceTools& tools);

/// Where export_tree has the tree from without fetching it; "" = it is fetched. Writes nothing. Errors: SRC001, SRC007.
Result<std::filesystem::path> look_for_tree(const PinnedTree& pinned, const std::string& given,
                                            const SourceTools& tools);

/// SRC006 (usage) where `given` is neither "" nor a url nor a file or folder that is there. `name`: of the tree.
Status check_place(const std::string& name, const std::string& given);

/// The checks of export_tree without writing: is the content that the user gave the pinned one? Nothing to check for
/// urls.
Status check_given(const PinnedTree& pinned, const std::string& given, const SourceTools& tools);

}  // namespace sagekit
