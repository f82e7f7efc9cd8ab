#include "interrupt.hpp"
#include "json_text.hpp"
#include "provisioning.hpp"
#include "session.hpp"
#include "table.hpp"

#include <sagekit/nearest.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sagekit::host {

namespace {

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

}  // namespace

int run_verb(Session& session, const ToolchainFetchArguments& arguments) {
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

int run_verb(Session& session, const ToolchainRemoveArguments& arguments) {
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

int run_verb(Session& session, const ToolchainVerifyArguments& arguments) {
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

}  // namespace sagekit::host
