#include "spec/platform.hpp"
#include "support/try.hpp"
#include "toolchain/lock.hpp"
#include "toolchain/recipe.hpp"

#include <sagekit/provision.hpp>

#include <sys/utsname.h>

#include <algorithm>

namespace sagekit {

namespace {

bool names(const std::vector<ToolSource>& sources, ToolSource source) {
  return std::ranges::find(sources, source) != sources.end();
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
  if (!options.provision.store.empty() && !options.stored.empty()) {
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
  if (!options.system) {
    std::erase_if(environment.nvcc, [](const Nvcc& nvcc) { return nvcc.source == ToolSource::system; });
    std::erase_if(environment.torches, [](const TorchSysroot& torch) { return torch.source == ToolSource::system; });
  }
  return environment;
}

bool can_fetch(const TreeNeed& need, const ToolchainOptions& options) {
  const bool windows = need.kind == TreeKind::torch && need.platform == k_windows_platform;
  if (options.provision.offline || (!windows && !recipes().redist.platforms.contains(need.platform))) return false;
  if (options.provision.locked) {
    const auto lock = read_lock(options.provision.lock, options.provision.kept);
    if (!lock || lock->find(need) == nullptr) return false;
  }
  const auto& sources = options.provision.sources;
  if (need.kind == TreeKind::torch) return names(sources, ToolSource::wheels);
  return (names(sources, ToolSource::wheels) && wheels_have_nvcc(need.cuda)) ||
         (names(sources, ToolSource::redist) && recipes().redist.manifests.contains(need.cuda));
}

}  // namespace sagekit
