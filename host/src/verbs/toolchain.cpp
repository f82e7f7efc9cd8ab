#include "interrupt.hpp"
#include "provisioning.hpp"
#include "render/table.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/nearest.hpp>
#include <sagekit/version_number.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sagekit::host {

/// verbs/env.cpp: what is on this machine is what env shows.
int list_toolchains(Session& session, const ToolchainArguments& tools);

namespace {

struct ToolchainListArguments {
  ToolchainArguments tools;
};
struct ToolchainFetchArguments {
  ToolchainArguments tools;
  std::string cuda;
  std::vector<std::string> torches, platforms;
  bool no_nvcc = false;
};
struct ToolchainRemoveArguments {
  std::vector<std::string> ids;
  std::string store;
  bool all = false;
};
struct ToolchainVerifyArguments {
  std::vector<std::string> ids;
  std::string store;
};

void declare(Flags& flags, ToolchainListArguments& arguments) { declare_toolchains(flags, arguments.tools); }

void declare(Flags& flags, ToolchainFetchArguments& arguments) {
  flags.value("--cuda", "VERSION", arguments.cuda, "CUDA release: 13.0").required = true;
  flags
      .list("--torch", "VERSION", arguments.torches,
            "torch release, built for that CUDA: 2.11.0; without it nvcc alone")
      .commas = true;
  flags
      .list("--platform", "PLATFORM", arguments.platforms,
            "Of the torch: linux_x86_64, linux_aarch64, win_amd64; without it this machine's")
      .commas = true;
  flags.on("--no-nvcc", arguments.no_nvcc, "Only the torch");
  declare_provisioning(flags, arguments.tools);
}

void declare(Flags& flags, ToolchainRemoveArguments& arguments) {
  flags.arguments("id", arguments.ids, "Folder names, as toolchain list shows them");
  flags.on("--all", arguments.all, "All of them, and what unfinished fetches left");
  declare_store(flags, arguments.store);
}

void declare(Flags& flags, ToolchainVerifyArguments& arguments) {
  flags.arguments("id", arguments.ids, "Folder names; without one all");
  declare_store(flags, arguments.store);
}

/// The trees that were named, or all; broken ones, too.
Result<std::vector<Tree>> named_trees(const Session& session, const std::vector<std::string>& ids,
                                      const std::string& store_flag) {
  auto store = session.store(store_flag);
  if (!store) return std::unexpected(store.error());
  // The usual store need not be there yet; one that was named and is not is a slip.
  std::error_code error;
  if (!store_flag.empty() && !std::filesystem::is_directory(*store, error))
    return fail(ErrorKind::usage, "STO005", "there is no store: " + store->string(),
                "name one with --store, or leave it out");
  auto all = trees(*store / "toolchains");
  const auto broken = broken_trees(*store / "toolchains");
  if (!broken) return std::unexpected(broken.error());
  all.insert(all.end(), broken->begin(), broken->end());
  if (ids.empty()) return all;
  std::vector<std::string> known;
  for (const auto& tree : all) known.push_back(tree.id);
  std::vector<Tree> chosen;
  for (const auto& id : ids) {
    const auto found = std::ranges::find(all, id, &Tree::id);
    if (found == all.end())
      return fail(ErrorKind::no_match, "PRV012", fmt::format("no fetched toolchain is called \"{}\"", id),
                  known.empty() ? "none has been fetched into this store" : suggestion(id, known));
    if (std::ranges::count(chosen, id, &Tree::id) == 0) chosen.push_back(*found);
  }
  return chosen;
}

Result<std::vector<TreeNeed>> needs_of(const ToolchainFetchArguments& arguments, const std::string& here) {
  // Other verbs choose among known ones, and take "13".
  const auto in_full = [](Error error, const char* example) {
    error.hint = fmt::format("write it as {}", example);
    return std::unexpected(std::move(error));
  };
  const auto cuda = parse_cuda_version(arguments.cuda);
  if (!cuda) return in_full(cuda.error(), "13.0 or cu130");
  const auto platforms = arguments.platforms.empty() ? std::vector{here} : arguments.platforms;
  const auto other = std::ranges::find_if(platforms, [&](const auto& platform) { return platform != here; });
  if (arguments.torches.empty() && other != platforms.end())
    return fail(
        ErrorKind::usage, "CLI006",
        fmt::format("--platform {} is a torch's, and there is no --torch: an nvcc is this machine's, {}", *other, here),
        "add --torch VERSION, or leave --platform out");
  std::vector<TreeNeed> needs;
  if (!arguments.no_nvcc) needs.push_back({TreeKind::nvcc, *cuda, "", here});
  for (const auto& word : arguments.torches) {
    const auto torch = parse_torch_version(word);
    if (!torch) return in_full(torch.error(), "2.11.0");
    for (const auto& platform : platforms) needs.push_back({TreeKind::torch, *cuda, *torch, platform});
  }
  for (const auto& need : needs)
    if (const auto known = check_need(need); !known) return std::unexpected(known.error());
  return needs;
}

int run(Session& session, const ToolchainListArguments& arguments) { return list_toolchains(session, arguments.tools); }

int run(Session& session, const ToolchainFetchArguments& arguments) {
  const std::stop_token stop = stop_on_signals();
  auto tools = arguments.tools;
  if (tools.sources.empty()) tools.sources = {"wheels", "redist"};
  const auto needs = needs_of(arguments, this_platform());
  if (!needs) return report(session, needs.error());
  if (needs->empty())
    return report(session, {ErrorKind::usage, "CLI006", "--no-nvcc without --torch leaves nothing to fetch", "",
                            "name a torch, or leave --no-nvcc out"});
  if (const auto store = session.store(tools.store); !store) return report(session, store.error());
  const auto options = toolchain_options(session, tools);
  if (!options) return report(session, options.error());
  TransferProgress progress(session.console, session.settings.redraws);
  std::vector<Provisioned> list;
  for (const auto& need : *needs) {
    auto provisioned = provision(need, options->provision, progress, stop);
    if (!provisioned) return report(session, provisioned.error());
    list.push_back(std::move(*provisioned));
  }
  if (session.global.json)
    session.console.document(fetched_json(list));
  else
    for (const auto& item : list) session.console.result(item.tree.folder.string() + "\n");
  return 0;
}

int run(Session& session, const ToolchainRemoveArguments& arguments) {
  if (arguments.ids.empty() != arguments.all)
    return report(session, {ErrorKind::usage, "CLI006", "name the toolchains to remove, or say --all", "",
                            "sagekit toolchain list shows them"});
  auto chosen = named_trees(session, arguments.ids, arguments.store);
  if (!chosen) return report(session, chosen.error());
  for (const auto& tree : *chosen) {
    if (const auto removed = remove_tree(tree); !removed) return report(session, removed.error());
    session.console.say("removed " + tree.folder.string());
  }
  std::vector<std::filesystem::path> unfinished;
  if (arguments.all) {
    const auto store = session.store(arguments.store);
    if (!store) return report(session, store.error());
    auto removed = remove_unfinished(*store / "toolchains");
    if (!removed) return report(session, removed.error());
    unfinished = std::move(*removed);
  }
  for (const auto& folder : unfinished) session.console.say("removed " + folder.string());
  if (session.global.json) session.console.document(removed_trees_json(*chosen, unfinished));
  return 0;
}

int run(Session& session, const ToolchainVerifyArguments& arguments) {
  auto chosen = named_trees(session, arguments.ids, arguments.store);
  if (!chosen) return report(session, chosen.error());
  if (chosen->empty()) session.console.say("no toolchain has been fetched");
  bool all_right = true;
  std::vector<CheckedTree> checked;
  for (const auto& tree : *chosen) {
    auto wrong = verify_tree(tree);
    if (!wrong) wrong = std::vector{wrong.error().message};
    all_right = all_right && wrong->empty();
    const auto mend = [&](const std::string& sentence) {
      if (sentence.find(k_closed) != std::string::npos) return std::string("check its owner and permissions");
      if (sentence.find(k_not_executable) != std::string::npos) return chmod_programs(tree.folder);
      return fmt::format("sagekit toolchain remove {}{}", tree.id, session.store_words(arguments.store));
    };
    for (const auto& sentence : *wrong)
      session.console.show(
          Error{ErrorKind::failed, "PRV004", fmt::format("{}: {}", tree.id, sentence), "", mend(sentence)});
    if (wrong->empty() && !session.global.json)
      session.console.result(fmt::format("{} {}\n", tree.id, session.console.green("whole")));
    checked.push_back({tree, std::move(*wrong)});
  }
  if (session.global.json) session.console.document(checked_trees_json(checked));
  return all_right ? 0 : exit_code(ErrorKind::failed);
}

}  // namespace

std::vector<Verb> toolchain_verbs() {
  return {
      make_group({.name = "toolchain",
                  .what = "Compilers and torch sysroots: found here, or fetched",
                  .examples = {"sagekit toolchain list", "sagekit toolchain fetch --cuda 13.0 --torch 2.11.0"}}),
      make_verb<ToolchainListArguments>({.name = "toolchain list",
                                         .what = "What is there",
                                         .examples = {"sagekit toolchain list", "sagekit toolchain list --json"}},
                                        declare, run),
      make_verb<ToolchainFetchArguments>(
          {.name = "toolchain fetch",
           .what = "Fetch an nvcc, or a torch's headers and link stubs",
           .examples = {"sagekit toolchain fetch --cuda 13.0 --torch 2.11.0",
                        "sagekit toolchain fetch --cuda 13.0 --torch 2.11.0 --platform linux_aarch64 --locked"},
           .exits = {{0, "it is in the store"}, {1, "a download failed or is not what the lock pins"}}},
          declare, run),
      make_verb<ToolchainRemoveArguments>(
          {.name = "toolchain remove",
           .what = "Remove fetched ones",
           .examples = {"sagekit toolchain remove nvcc-13.0.88-linux_x86_64-1f2e3d4c5b6a",
                        "sagekit toolchain remove --all"},
           .exits = {{4, "none is called so"}}},
          declare, run),
      make_verb<ToolchainVerifyArguments>(
          {.name = "toolchain verify",
           .what = "Every file of fetched ones against its hash",
           .examples = {"sagekit toolchain verify", "sagekit toolchain verify --json"},
           .exits = {{0, "all are whole"}, {1, "a file is missing, changed or too many"}, {4, "none is called so"}}},
          declare, run)};
}

}  // namespace sagekit::host
