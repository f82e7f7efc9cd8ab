#include "interrupt.hpp"
#include "json_text.hpp"
#include "provisioning.hpp"
#include "render/table.hpp"
#include "session.hpp"
#include "verb.hpp"

#include <sagekit/nearest.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
            "Of the torch: linux_x86_64, linux_aarch64; without it this machine's")
      .commas = true;
  flags.on("--no-nvcc", arguments.no_nvcc, "Only the torch");
  declare_provisioning(flags, arguments.tools);
}

void declare(Flags& flags, ToolchainRemoveArguments& arguments) {
  flags.arguments("id", arguments.ids, "Folder names, as toolchain list shows them");
  flags.on("--all", arguments.all, "All of them");
  declare_store(flags, arguments.store);
}

void declare(Flags& flags, ToolchainVerifyArguments& arguments) {
  flags.arguments("id", arguments.ids, "Folder names; without one all");
  declare_store(flags, arguments.store);
}

/// The trees that were named, or all.
Result<std::vector<Tree>> named_trees(const Session& session, const std::vector<std::string>& ids,
                                      const std::string& store_flag) {
  auto store = session.store(store_flag);
  if (!store) return std::unexpected(store.error());
  auto all = trees(*store / "toolchains");
  if (ids.empty()) return all;
  std::vector<std::string> known;
  for (const auto& tree : all) known.push_back(tree.id);
  std::vector<Tree> chosen;
  for (const auto& id : ids) {
    const auto found = std::ranges::find(all, id, &Tree::id);
    if (found == all.end())
      return fail(ErrorKind::no_match, "PRV012", fmt::format("no fetched toolchain is called \"{}\"", id),
                  suggestion(id, known));
    chosen.push_back(*found);
  }
  return chosen;
}

std::string fetched_json(const std::vector<Provisioned>& list) {
  std::vector<std::string> rows;
  for (const auto& item : list) {
    const auto& tree = item.tree;
    rows.push_back(fmt::format(
        "    {{\"id\":{},\"kind\":\"{}\",\"version\":{},\"cuda\":{},\"platform\":{},\"source\":{},\"path\":{},"
        "\"fetched\":{},\"bytes\":{},\"requests\":{},\"seconds\":{:.3f}}}",
        json_string(tree.id), tree.kind == TreeKind::nvcc ? "nvcc" : "torch", json_string(tree.version),
        json_string(tree.cuda), json_string(tree.platform), json_string(tree.source), json_string(tree.folder.string()),
        item.fetched, item.bytes, item.requests, item.seconds));
  }
  return json_document("sagekit.fetch/1", "trees", rows);
}

std::vector<TreeNeed> needs_of(const ToolchainFetchArguments& arguments, const std::string& here) {
  const auto platforms = arguments.platforms.empty() ? std::vector{here} : arguments.platforms;
  std::vector<TreeNeed> needs;
  if (!arguments.no_nvcc) needs.push_back({TreeKind::nvcc, arguments.cuda, "", here});
  for (const auto& torch : arguments.torches)
    for (const auto& platform : platforms) needs.push_back({TreeKind::torch, arguments.cuda, torch, platform});
  return needs;
}

int run(Session& session, const ToolchainListArguments& arguments) { return list_toolchains(session, arguments.tools); }

int run(Session& session, const ToolchainFetchArguments& arguments) {
  const std::stop_token stop = stop_on_signals();
  auto tools = arguments.tools;
  if (tools.sources.empty()) tools.sources = {"wheels", "redist"};
  auto options = provision_options(session, tools);
  if (!options) return report(session, options.error());
  TransferProgress progress(session.console, session.settings.ci);
  std::vector<Provisioned> list;
  for (const auto& need : needs_of(arguments, this_platform())) {
    auto provisioned = bring(session, tools, need, *options, progress, stop);
    if (!provisioned) return report(session, provisioned.error());
    progress.done(*provisioned);
    list.push_back(std::move(*provisioned));
  }
  if (session.global.json)
    session.console.result(fetched_json(list));
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
  return 0;
}

int run(Session& session, const ToolchainVerifyArguments& arguments) {
  auto chosen = named_trees(session, arguments.ids, arguments.store);
  if (!chosen) return report(session, chosen.error());
  bool all_right = true;
  std::vector<std::string> rows;
  for (const auto& tree : *chosen) {
    auto wrong = verify_tree(tree);
    if (!wrong) wrong = std::vector{wrong.error().message};
    all_right = all_right && wrong->empty();
    std::vector<std::string> sentences;
    for (const auto& sentence : *wrong) {
      sentences.push_back(json_string(sentence));
      session.console.show(Error{ErrorKind::failed, "PRV004", fmt::format("{}: {}", tree.id, sentence), "",
                                 "sagekit toolchain remove " + tree.id});
    }
    if (wrong->empty()) session.console.say(fmt::format("{} {}", tree.id, session.console.green("whole")));
    rows.push_back(fmt::format("    {{\"id\":{},\"path\":{},\"whole\":{},\"problems\":[{}]}}", json_string(tree.id),
                               json_string(tree.folder.string()), wrong->empty(), fmt::join(sentences, ",")));
  }
  if (session.global.json) session.console.result(json_document("sagekit.toolchain-verify/1", "trees", rows));
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
           .what = "Bring an nvcc, or a torch's headers and link stubs",
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
