#include "spec/data.hpp"
#include "spec/platform.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "toolchain/lock.hpp"
#include "toolchain/pin_check.hpp"
#include "toolchain/recipe.hpp"
#include "toolchain/tree_store.hpp"

#include <sagekit/provision.hpp>

#include <sys/utsname.h>

#include <algorithm>
#include <functional>
#include <iterator>

namespace sagekit {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_sources = 3;  // installed, and trees of two kinds

bool names(const std::vector<ToolSource>& sources, ToolSource source) {
  return std::ranges::find(sources, source) != sources.end();
}

/// With --locked, trees of the store that nothing pins: named as tools that cannot be used. They say no release, so
/// that one is lacking (TCH001, TCH005) and not broken: toolchain fetch without --locked pins what is here.
Status add_unpinned_trees(const ToolchainOptions& options, Environment& environment) {
  TRY_ASSIGN(const auto pins, read_lock(options.provision.lock, options.provision.kept));
  const auto why_not =
      fmt::format("{} does not pin it, and --locked uses nothing else", options.provision.lock.string());
  for (const auto& tree : trees(options.provision.store)) {
    if (!names(options.stored, tree.source) || pins.find(need_of(tree)) != nullptr) continue;
    if (tree.kind == TreeKind::torch) {
      auto& torch = environment.torches.emplace_back();
      torch.root = tree.folder;
      torch.source = tree.source;
      torch.why_not = why_not;
      continue;
    }
    auto& nvcc = environment.nvcc.emplace_back();
    nvcc.executable = tree.folder;
    nvcc.source = tree.source;
    nvcc.found_by = to_string(tree.source);
    nvcc.why_not = why_not;
  }
  return {};
}

/// The tool of a tree cannot be used: one that the probes took for good, or did not find any more.
void refuse_tree(const Tree& tree, const std::string& why_not, const std::string& mend, Environment& environment) {
  const auto refuse = [&](auto& tools, const fs::path& place, auto place_of) {
    auto tool = std::ranges::find(tools, place, place_of);
    if (tool == tools.end()) {
      tools.emplace_back();
      tool = tools.end() - 1;
      std::invoke(place_of, *tool) = place;
      tool->source = tree.source;
    } else if (!tool->ready && mend.empty()) {
      return;  // its own reason is nearer
    }
    tool->ready = false;
    tool->why_not = why_not;
    tool->mend = mend;
  };
  if (tree.kind == TreeKind::torch) return refuse(environment.torches, tree.folder / "torch", &TorchSysroot::root);
  refuse(environment.nvcc, tree.folder / "bin" / "nvcc", &Nvcc::executable);
}

/// A tree that lost files is none of those that a build may be told are here.
void refuse_damaged_trees(const std::vector<Tree>& used, Environment& environment) {
  for (const auto& tree : used)
    if (const auto lost = lost_part(tree); !lost.empty())
      refuse_tree(tree, lost + ": the tree is incomplete (PRV004)", {}, environment);
}

/// The tree that the lock names and that was made of other files than its entry says.
Status refuse_trees_of_another_lock(const std::vector<Tree>& used, const ProvisionOptions& options,
                                    Environment& environment) {
  TRY_ASSIGN(const auto lock, read_lock(options.lock, options.kept));
  for (const auto& tree : used) {
    const auto* pinned = lock.find(need_of(tree));
    const auto made_of = pinned == nullptr ? Result<LockedTree>() : read_pins(tree.folder);
    if (pinned == nullptr || !made_of) continue;
    if (const auto same = check_made_of(*pinned, *made_of, options); !same)
      refuse_tree(tree, same.error().message + " (PRV006)", same.error().hint, environment);
  }
  return {};
}

/// What this user may not read is there all the same: named as a tool that cannot be used, so that nobody takes it for
/// absent and fetches it again.
void add_closed_trees(const fs::path& store, Environment& environment) {
  for (const auto& closed : closed_trees(store)) {
    auto tree = fs::path(closed.where);
    if (tree == store) environment.store_mend = closed.hint;
    if (tree.has_extension() && tree.filename() == "tree.toml") tree = tree.parent_path();
    if (!tree.filename().string().starts_with("torch-")) {
      auto& nvcc = environment.nvcc.emplace_back();
      nvcc.executable = tree == store ? tree : tree / "bin" / "nvcc";
      nvcc.source = ToolSource::wheels;
      nvcc.found_by = to_string(nvcc.source);
      nvcc.why_not = closed.message;
      nvcc.mend = closed.hint;
    }
    if (!tree.filename().string().starts_with("nvcc-")) {
      auto& torch = environment.torches.emplace_back();
      torch.root = tree;
      torch.source = ToolSource::wheels;
      torch.why_not = closed.message;
    }
  }
}

}  // namespace

std::string this_platform() {
  utsname host{};
  ::uname(&host);
  return std::string("linux_") + host.machine;
}

Result<std::vector<Tree>> usable_trees(const ProvisionOptions& options) {
  TRY_ASSIGN(const auto pins, read_lock(options.lock, options.kept));
  auto usable = trees(options.store);
  std::erase_if(usable, [&](const Tree& tree) {
    const auto* pinned = pins.find(need_of(tree));
    return pinned != nullptr ? pinned->id != tree.id : options.locked;
  });
  return usable;
}

Result<Environment> find_toolchains(const ToolchainOptions& options, CommandRunner& runner) {
  auto probe = options.probe;
  std::vector<Tree> used;
  const bool looks_in_store = !options.provision.store.empty() && !options.stored.empty();
  if (looks_in_store) {
    TRY_ASSIGN(const auto usable, usable_trees(options.provision));
    std::ranges::copy_if(usable, std::back_inserter(used),
                         [&](const Tree& tree) { return names(options.stored, tree.source); });
    for (const auto& tree : used) probe.provisioned.emplace_back(tree.folder, tree.source);
  }
  auto environment = probe_environment(probe, runner);
  // A torch for Windows is made of a wheel that knows no CUDA, and of the CUDA that its tree is for.
  for (auto& torch : environment.torches) {
    const auto tree = std::ranges::find(used, torch.root.parent_path(), &Tree::folder);
    if (tree != used.end() && is_windows(tree->platform)) torch.cuda = tree->cuda;
  }
  if (looks_in_store) {
    refuse_damaged_trees(used, environment);
    TRY(refuse_trees_of_another_lock(used, options.provision, environment));
    add_closed_trees(options.provision.store, environment);
  }
  if (looks_in_store && options.provision.locked) TRY(add_unpinned_trees(options, environment));
  if (options.provision.locked) environment.pinned_in = options.provision.lock.string();
  environment.usual_index = options.provision.usual_index;
  environment.store_flag = options.provision.store_flag;
  environment.fetch_flags = options.provision.fetch_flags;
  std::vector<std::string> sources;
  if (options.system) sources.emplace_back("system");
  for (const auto source : options.stored) sources.emplace_back(to_string(source));
  if (sources.size() < k_sources) environment.narrowed_to = join(sources, ",");
  if (!options.system) {
    std::erase_if(environment.nvcc, [](const Nvcc& nvcc) { return nvcc.source == ToolSource::system; });
    std::erase_if(environment.torches, [](const TorchSysroot& torch) { return torch.source == ToolSource::system; });
  }
  return environment;
}

std::string only_on_torch_index(const TreeNeed& need, bool usual_index) {
  // For Windows any build of that release does.
  if (!usual_index || need.kind != TreeKind::torch || need.cuda.empty() || is_windows(need.platform)) return {};
  const auto cudas = cudas_on_package_index(need.torch, need.platform);
  return !cudas || std::ranges::find(*cudas, need.cuda) != cudas->end() ? std::string() : torch_index(need.cuda);
}

bool can_fetch(const TreeNeed& need, const ToolchainOptions& options) {
  const bool windows = need.kind == TreeKind::torch && need.platform == k_windows_platform;
  if (options.provision.offline || (!windows && !recipes().redist.platforms.contains(need.platform))) return false;
  if (const auto closed = closed_trees(options.provision.store);
      !closed.empty() && closed.front().where == options.provision.store.string())
    return false;  // where nobody may look, nobody may write
  if (options.provision.locked) {
    const auto lock = read_lock(options.provision.lock, options.provision.kept);
    if (!lock || lock->find(need) == nullptr) return false;
  }
  const auto& sources = options.provision.sources;
  if (need.kind == TreeKind::torch)
    return names(sources, ToolSource::wheels) && only_on_torch_index(need, options.provision.usual_index).empty();
  return (names(sources, ToolSource::wheels) && wheels_have_nvcc(need.cuda)) ||
         (names(sources, ToolSource::redist) && recipes().redist.manifests.contains(need.cuda));
}

}  // namespace sagekit
