#include "index/curl_client.hpp"
#include "spec/platform.hpp"
#include "support/file.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "toolchain/fetch.hpp"
#include "toolchain/pin_check.hpp"
#include "toolchain/recipe.hpp"
#include "toolchain/tree_store.hpp"

#include <sagekit/provision.hpp>

#include <algorithm>
#include <system_error>

namespace sagekit {

namespace {

using Clock = std::chrono::steady_clock;

/// "nvcc 13.0 for linux_x86_64", "torch 2.11.0 for CUDA 13.0 on linux_x86_64".
std::string words(const TreeNeed& need) {
  if (need.kind == TreeKind::nvcc) return fmt::format("nvcc {} for {}", need.cuda, need.platform);
  return fmt::format("torch {} for CUDA {} on {}", need.torch, need.cuda, need.platform);
}

/// A release written out: "13.0" or "2.11.0", by the count of its numbers.
bool is_release(std::string_view text, std::size_t numbers) {
  const auto version = parse_version_number(text);
  return version && version->parts.size() == numbers && to_string(*version) == text;
}

std::optional<Tree> fitting(const TreeNeed& need, const ProvisionOptions& options) {
  for (auto& tree : trees(options.store)) {
    if (need_of(tree) == need && std::ranges::find(options.sources, tree.source) != options.sources.end())
      return std::move(tree);
  }
  return std::nullopt;
}

/// What may be that tree and this user may not read: the store, or one of its name.
std::optional<Error> closed_for(const TreeNeed& need, const std::filesystem::path& store) {
  const auto name = need.kind == TreeKind::nvcc ? "nvcc-" + need.cuda + "." : "torch-" + need.torch + "-";
  for (auto& closed : closed_trees(store))
    if (closed.where == store.string() || closed.where.starts_with((store / name).string())) return std::move(closed);
  return std::nullopt;
}

Status add_to_lock(const ProvisionOptions& options, const LockedTree& pins) {
  TRY_ASSIGN(auto lock, read_lock(options.lock, options.kept));
  lock.set(pins);
  return write_file_atomic(options.lock, lock_text(lock));
}

/// Before gigabytes come: could write_pins write the lock?
Status check_lock(const std::filesystem::path& lock) {
  const auto folder = lock.has_parent_path() ? lock.parent_path() : std::filesystem::path(".");
  const auto why = lock.empty() ? std::error_code() : cannot_write(folder);
  if (!why) return check_replaceable(lock);
  return fail(ErrorKind::usage, "FIL002", fmt::format("cannot write {}: {}", lock.string(), why.message()),
              "it pins what is fetched: --lock FILE names another place");
}

/// Adds a tree to the lock; other processes may be doing the same.
Status write_pins(const ProvisionOptions& options, const LockedTree& pins, ProvisionObserver& observer) {
  if (options.lock.empty()) return {};
  const auto in_store = FileLock::acquire(options.store / ".partial" / "sagekit.lock.lock", true);
  if (in_store) {
    TRY(add_to_lock(options, pins));
  } else {  // a store that is only read: beside the lock, where nothing stays
    const std::filesystem::path beside = options.lock.string() + ".lock";
    TRY_ASSIGN(const auto guard, FileLock::acquire(beside, true));
    const auto added = add_to_lock(options, pins);
    remove_quietly(beside);
    TRY(added);
  }
  observer.on_message(fmt::format("{} {} was trusted on first use and is pinned in {}", to_string(pins.kind),
                                  pins.version, options.lock.string()));
  return {};
}

/// The very tree that the lock pins, when it is here.
Result<std::optional<Tree>> pinned_here(const LockedTree& pinned, const ProvisionOptions& options) {
  auto tree = read_tree(options.store / pinned.id);
  if (!tree) return std::nullopt;
  TRY_ASSIGN(const auto pins, read_pins(tree->folder));
  TRY(check_made_of(pinned, pins, options));
  return std::optional(std::move(*tree));
}

/// Is it here already? With a lock only the very tree that it pins counts.
Result<std::optional<Tree>> here(const TreeNeed& need, const ProvisionOptions& options, const LockedTree* pinned,
                                 ProvisionObserver& observer) {
  if (pinned != nullptr) return pinned_here(*pinned, options);
  auto tree = fitting(need, options);
  if (!tree) return std::nullopt;
  TRY_ASSIGN(const auto pins, read_pins(tree->folder));
  TRY(write_pins(options, pins, observer));
  return tree;
}

Result<LockedTree> fetch_from(ToolSource source, Fetch& fetch) {
  if (fetch.need.kind == TreeKind::torch) return fetch_torch_from_wheels(fetch);
  return source == ToolSource::redist ? fetch_nvcc_from_redist(fetch) : fetch_nvcc_from_wheels(fetch);
}

/// The first source that has it; what the others said, when none does.
Result<LockedTree> fetch_from_any(Fetch& fetch) {
  auto sources = fetch.options.sources;
  if (fetch.need.kind == TreeKind::torch) std::erase(sources, ToolSource::redist);
  if (fetch.pinned != nullptr) sources = {fetch.pinned->source};
  std::optional<Error> first;
  for (const auto& source : sources) {
    auto tree = fetch_from(source, fetch);
    if (!tree && first && tree.error().code != "PRV002")
      tree.error().message = first->message + "; " + tree.error().message;
    if (tree || tree.error().code != "PRV002") return tree;
    if (!first)
      first = std::move(tree.error());
    else
      first->message += "; " + tree.error().message;
  }
  if (first) return std::unexpected(std::move(*first));
  return fail(ErrorKind::machine, "PRV002",
              fmt::format("no source of toolchains may be used for {}", words(fetch.need)),
              "name one: --toolchain wheels");
}

Result<Provisioned> fetch_tree(const TreeNeed& need, const ProvisionOptions& options, const LockedTree* pinned,
                               ProvisionObserver& observer, std::stop_token stop) {
  const auto began = Clock::now();
  TRY_ASSIGN(auto stage, TreeStage::open(options.store, need, [&] {
               observer.on_message(fmt::format("waiting for another sagekit that fetches {}", words(need)));
             }));
  TRY_ASSIGN(auto made, here(need, options, pinned, observer));
  if (made) return Provisioned{std::move(*made), false, 0, 0, 0};
  observer.on_message("fetching " + words(need));
  TRY_ASSIGN(const auto http, make_http_client(options.index));
  TransferMeter meter(words(need), observer);
  MeteredClient metered(*http, meter);
  Fetch fetch{metered, options, need, pinned, stage, meter, stop};
  TRY_ASSIGN(auto pins, fetch_from_any(fetch));
  if (pinned != nullptr) TRY(check_made_of(*pinned, pins, options));
  TRY_ASSIGN(auto tree, stage.publish(options.store, pins, pinned != nullptr ? pinned->id : std::string()));
  if (need.kind == TreeKind::nvcc)
    observer.on_message(fmt::format("CUDA's compilers and headers come under NVIDIA's licence; its texts are in {}",
                                    (tree.folder / "licenses").string()));
  if (pinned == nullptr) TRY(write_pins(options, pins, observer));
  const auto moved = meter.state();
  Provisioned provisioned{std::move(tree), true, moved.bytes, moved.requests,
                          std::chrono::duration<double>(Clock::now() - began).count()};
  observer.on_fetched(provisioned);
  return provisioned;
}

}  // namespace

Status check_need(const TreeNeed& need) {
  const auto wrong = [](const std::string& what, const std::string& hint) {
    return fail(ErrorKind::usage, "PRV001", what, hint);
  };
  if (!is_release(need.cuda, 2))
    return wrong(fmt::format("\"{}\" is no CUDA release", need.cuda), "write major and minor number: 13.0");
  if (need.kind == TreeKind::torch && !is_release(need.torch, 3))
    return wrong(fmt::format("\"{}\" is no torch release", need.torch), "write all three numbers: 2.11.0");
  const auto& known = recipes().redist.platforms;
  if (known.contains(need.platform) || (need.kind == TreeKind::torch && need.platform == k_windows_platform)) return {};
  std::vector<std::string> names;
  for (const auto& [name, word] : known) names.push_back(name);
  if (need.kind == TreeKind::torch) names.emplace_back(k_windows_platform);
  return wrong(fmt::format("there are no toolchains for \"{}\"", need.platform), suggestion(need.platform, names));
}

Status check_fetch(const TreeNeed& need, const ProvisionOptions& options) {
  TRY(check_need(need));
  TRY_ASSIGN(const auto lock, read_lock(options.lock, options.kept));
  if (const auto* pinned = lock.find(need)) {
    TRY(pinned_here(*pinned, options));
    return {};
  }
  if (options.locked)
    return fail(ErrorKind::usage, "PRV009", fmt::format("{} does not pin {}", options.lock.string(), words(need)),
                "run it once without --locked and look at what the lock then says");
  return options.offline && !fitting(need, options) ? Status{} : check_lock(options.lock);
}

Result<Provisioned> provision(const TreeNeed& need, const ProvisionOptions& options, ProvisionObserver& observer,
                              std::stop_token stop) {
  TRY(check_fetch(need, options));
  TRY_ASSIGN(const auto lock, read_lock(options.lock, options.kept));
  const auto* pinned = lock.find(need);
  TRY_ASSIGN(auto tree, here(need, options, pinned, observer));
  if (tree) return Provisioned{std::move(*tree), false, 0, 0, 0};
  // One that comes would have no place either where the whole folder is closed.
  if (const auto closed = closed_for(need, options.store);
      closed && (options.offline || closed->where == options.store.string()))
    return fail(ErrorKind::machine, "PRV010",
                fmt::format("whether {} is here is not known: {}{}", words(need), closed->message,
                            options.offline ? "; and --offline fetches nothing" : ""),
                closed->hint, closed->where);
  if (options.offline)
    return fail(ErrorKind::machine, "PRV010",
                fmt::format("{} is not in {}, and --offline fetches nothing", words(need), options.store.string()),
                need.kind != TreeKind::nvcc || can_fetch_nvcc(need.cuda) ? "run it once without --offline"
                                                                         : how_to_get_nvcc(need.cuda, ""));
  if (!options.index.index_url.empty() || !options.find_index) return fetch_tree(need, options, pinned, observer, stop);
  auto complete = options;
  TRY_ASSIGN(complete.index, options.find_index());
  return fetch_tree(need, complete, pinned, observer, stop);
}

}  // namespace sagekit
