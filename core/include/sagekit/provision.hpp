#pragma once
// Toolchains that sagekit brings itself: nvcc trees and torch sysroots, read out of pinned files of a package index
// (ToolSource::wheels) or of NVIDIA's archive manifests (ToolSource::redist). docs/toolchains.md tells the whole story.

#include <sagekit/environment.hpp>
#include <sagekit/error.hpp>
#include <sagekit/export.hpp>
#include <sagekit/index.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

enum class TreeKind { nvcc, torch };

/// What a tree must be.
struct TreeNeed {
  TreeKind kind = TreeKind::nvcc;
  std::string cuda;      ///< "13.0"; of a torch: what its version.py must say
  std::string torch;     ///< "2.11.0"; empty for nvcc
  std::string platform;  ///< "linux_x86_64": where nvcc runs, what torch's headers and stubs are for
  bool operator==(const TreeNeed&) const = default;
};

/// A tree that is there, whole, under its final name. Nothing else is ever visible below the store.
struct Tree {
  TreeKind kind = TreeKind::nvcc;
  std::string version;  ///< "13.0.88", "2.11.0"
  std::string cuda, platform;
  ToolSource source = ToolSource::wheels;  ///< or redist
  std::string id;                          ///< folder name below the store: "nvcc-13.0.88-linux_x86_64-1f2e3d4c5b6a"
  std::filesystem::path folder;            ///< licence texts of what is in it lie in its folder licenses
};

struct TransferState {
  std::string what;                                           ///< "torch 2.11.0+cu130"
  std::uint64_t bytes = 0, requests = 0, expected_bytes = 0;  ///< expected: 0 = not known yet
  double bytes_per_second = 0;
};

struct Provisioned {
  Tree tree;
  bool fetched = false;  ///< false: it was there
  std::uint64_t bytes = 0, requests = 0;
  double seconds = 0;
};

class ProvisionObserver {
 public:
  virtual ~ProvisionObserver() = default;
  /// At most ten times a second, from any thread.
  virtual void on_transfer(const TransferState& state) = 0;
  /// One sentence for people: what was trusted on first use, whose licence holds, that another process is waited for.
  virtual void on_message(const std::string& text) = 0;
  /// A tree was fetched and is in the store.
  virtual void on_fetched(const Provisioned&) {}
};

struct ProvisionOptions {
  std::filesystem::path store;  ///< trees are folders of it
  /// " --store DIR" where `toolchain remove` would take another store without it: advice ends so
  std::string store_flag;
  std::string fetch_flags;     ///< the same for `toolchain fetch`, which also takes a lock and whom to ask
  std::filesystem::path lock;  ///< sagekit.lock; need not exist
  std::filesystem::path kept;  ///< where what was read of the lock is kept; "" = nowhere
  bool locked = false;         ///< refuse what the lock does not pin; never write it
  bool offline = false;        ///< no connection at all
  bool full = false;           ///< download whole wheels and check their own sha256, not RECORD's alone
  std::vector<ToolSource> sources{ToolSource::wheels, ToolSource::redist};  ///< in order of preference
  IndexSettings index;
  /// Called when something must be fetched and `index` has no address: to read pip's settings pip may have to be
  /// started, which a tree that is here needs no one to do. Empty = nothing is fetched from an index that is not named.
  std::function<Result<IndexSettings>()> find_index;
  std::string redist_url;    ///< base of the manifests; "" = core data's
  bool usual_index = false;  ///< nobody names an index, to pip neither: what core's data knows of the public one holds
};

/// Can there be such a tree at all? What would else be taken for something near it is refused: "13" for the
/// newest 13.x, a platform for another CPU's. Error: PRV001 (usage).
SAGEKIT_API Status check_need(const TreeNeed& need);

/// What provision() refuses before it uses or fetches anything. Errors: PRV001, PRV003, PRV009 (--locked without a
/// pin), FIL002 for a lock that it could not write (usage); PRV006 for a stored tree that the lock says otherwise of.
SAGEKIT_API Status check_fetch(const TreeNeed& need, const ProvisionOptions& options);

/// Makes sure of the tree: the one that the lock pins, else any that fits, else fetched, checked file by file,
/// published by one rename; what was trusted on first use is added to the lock. Several processes may ask for the same
/// tree: one fetches, the others wait. Errors: failed (PRV, IDX: index, content, hashes), machine (PRV002: no source
/// has it; space), usage (those of check_fetch).
SAGEKIT_API Result<Provisioned> provision(const TreeNeed& need, const ProvisionOptions& options,
                                          ProvisionObserver& observer, std::stop_token stop = {});

/// Everything that decides which tools a plan gets. The values of nothing said: what is installed, else what was
/// fetched before, else what `provision.sources` have.
struct ToolchainOptions {
  ProbeOptions probe;
  bool system = true;  ///< the machine's nvcc and torch count; its host compilers and Pythons always do
  std::vector<ToolSource> stored{ToolSource::wheels,
                                 ToolSource::redist};  ///< whose trees count when they are in the store
  ProvisionOptions provision;                          ///< a store "" has no trees
};

/// The machine as probe_environment sees it, with the store's trees added and the system's tools left out as `options`
/// say. No connection is made. PRV003 for a lock that cannot be read.
SAGEKIT_API Result<Environment> find_toolchains(const ToolchainOptions& options, CommandRunner& runner);

/// Would provision() try to fetch it? No when offline, when locked without a pin, for a platform that has no trees,
/// into a store that cannot be read, and where no source can have it. Nothing is asked: the index may still lack it.
SAGEKIT_API bool can_fetch(const TreeNeed& need, const ToolchainOptions& options);

/// The address of torch's own index for a torch that the usual index is known not to have; "" = it may have it.
SAGEKIT_API std::string only_on_torch_index(const TreeNeed& need, bool usual_index);

/// All trees of the store, sorted by kind, then newest first. A folder without a readable tree file is not one.
SAGEKIT_API std::vector<Tree> trees(const std::filesystem::path& store);

/// Folders named as trees that hold no readable one, half-copied or another user's: id and folder alone are known.
/// verify_tree says why; a fetch replaces them. FIL001 when the store's folder is there and cannot be read.
SAGEKIT_API Result<std::vector<Tree>> broken_trees(const std::filesystem::path& store);

/// What of the store this user may not read: its folder, or trees in it. The error is FIL001 (usage) and names it;
/// `where` is its path.
SAGEKIT_API std::vector<Error> closed_trees(const std::filesystem::path& store);

/// Those that a lock lets be used: of what it pins the very tree, of the rest all, or none when `locked`. PRV003 for a
/// lock that cannot be read; an empty path is no lock.
SAGEKIT_API Result<std::vector<Tree>> usable_trees(const ProvisionOptions& options);

/// What verify_tree says of a program of nvcc's that has its content and may not be started.
inline constexpr std::string_view k_not_executable = "may not be executed";
/// What it says of a file or folder that this user may not read.
inline constexpr std::string_view k_closed = "cannot be read: Permission denied";
/// The command that lets the programs of a toolkit's folder be started again.
SAGEKIT_API std::string chmod_programs(const std::filesystem::path& toolkit);

/// Every file of the tree against its hash, and nothing beside them: one sentence each for what is wrong.
SAGEKIT_API Result<std::vector<std::string>> verify_tree(const Tree& tree);

SAGEKIT_API Status remove_tree(const Tree& tree);

/// What fetches that failed or were stopped left in the store; what a living one holds stays. Returns what is gone.
SAGEKIT_API Result<std::vector<std::filesystem::path>> remove_unfinished(const std::filesystem::path& store);

/// May a package index have an nvcc of that CUDA ("13.0")? Its older packages hold none (core/data/toolchains.toml).
SAGEKIT_API bool wheels_have_nvcc(const std::string& cuda);

/// The wheel platform of this machine: "linux_x86_64".
SAGEKIT_API std::string this_platform();

/// {"schema":"sagekit.fetch/1","trees":[...]}: what was there or fetched.
SAGEKIT_API std::string fetched_json(const std::vector<Provisioned>& list);

/// A tree and what verify_tree says of it.
struct CheckedTree {
  Tree tree;
  std::vector<std::string> problems;
};

/// {"schema":"sagekit.toolchain-verify/1","trees":[...]}
SAGEKIT_API std::string checked_trees_json(const std::vector<CheckedTree>& list);

/// {"schema":"sagekit.toolchain-remove/1","trees":[...],"unfinished":[...]}: what is gone; paths of what
/// remove_unfinished found.
SAGEKIT_API std::string removed_trees_json(const std::vector<Tree>& trees,
                                           const std::vector<std::filesystem::path>& unfinished);

}  // namespace sagekit
