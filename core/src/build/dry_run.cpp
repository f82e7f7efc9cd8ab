#include "build/dry_run.hpp"

#include "build/executor.hpp"
#include "build/open_store.hpp"
#include "build/step_environment.hpp"
#include "build/symbols.hpp"
#include "source/prepared_source.hpp"
#include "support/folder.hpp"
#include "support/format.hpp"
#include "support/run_owner.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

/// Cells all of whose tools are here: of the others' steps nothing can be known. A tool that would be fetched first is
/// not here.
std::vector<const Cell*> with_tools(std::vector<const Cell*> cells) {
  std::erase_if(cells, [](const Cell* cell) { return cell->toolchain == nullptr; });
  return cells;
}

/// Where the source comes from, when nothing that goes into it is fetched; "" = something is. SRC001 where it must not.
Result<std::filesystem::path> look_for_trees(const Spec& spec, const Plan& plan, const BuildOptions& options,
                                             const SourceTools& tools) {
  TRY_ASSIGN(auto place, look_for_tree(pinned_source(spec, plan), options.source, tools));
  for (const auto& vendored : spec.source.vendored) {
    TRY_ASSIGN(const auto tree, look_for_tree(pinned_vendored(vendored), given_for(options, vendored.name), tools));
    if (tree.empty()) place.clear();
  }
  return place;
}

/// What has to be here before anybody can say whether the store has these cells' results.
std::vector<std::string> unknown_before(const std::vector<const Cell*>& cells) {
  std::set<std::string> names;
  for (const auto* cell : cells) {
    if (cell->toolchain != nullptr) continue;
    for (const auto& lack : cell->lacks)
      names.insert(lack.kind == LackKind::nvcc    ? "nvcc " + cell->cuda
                   : lack.kind == LackKind::torch ? "torch " + cell->torch
                                                  : "what it is compiled with");
    if (cell->lacks.empty()) names.insert("what it is compiled with");
  }
  return {names.begin(), names.end()};
}

/// Ids of steps.
struct Known {
  std::set<std::string> kept;     ///< the store has their results
  std::set<std::string> unknown;  ///< it may have
  std::vector<std::string> before;
};

/// What may be in the store although nothing of it could be looked up.
Known unknown_of(const std::vector<const Step*>& all, const std::vector<const Step*>& looked_up,
                 std::vector<std::string> before, const BuildOptions& options) {
  Known known;
  if (options.store_from.empty() && entries_of(options.store / "actions").empty()) return known;
  for (const auto* step : all) known.unknown.insert(step->id);
  for (const auto* step : looked_up) known.unknown.erase(step->id);
  if (!known.unknown.empty()) known.before = std::move(before);
  return known;
}

Result<Known> known_steps(const Spec& spec, const Plan& plan, const Environment& environment,
                          const BuildOptions& options, const std::vector<const Cell*>& cells,
                          const std::vector<const Step*>& all, CommandRunner& runner, BuildObserver& observer,
                          const std::stop_token& stop) {
  const auto from = options.source.empty() ? plan.source_url : options.source;
  TRY_ASSIGN(const auto links, links_folder(options));
  auto here = options;
  // Where no store is yet, none is made. Specs are kept by every verb, wherever the folder is there.
  if (std::ranges::all_of(entries_of(options.store), [](const auto& entry) { return entry.filename() == "specs"; }))
    here.store = links.path() / "store";
  const auto say = [&observer](const std::string& text) { observer.on_message(text); };
  TRY_ASSIGN(const auto opened, open_store(here, "", say));
  const Store& store = opened.store;
  const SourceTools tools{store, runner,      options.child_environment, {},
                          stop,  options.log, options.offline,           opened.read_only};
  TRY_ASSIGN(const auto source, find_source(spec, plan, options, tools));
  if (!source) {
    TRY_ASSIGN(const auto place, look_for_trees(spec, plan, options, tools));
    observer.on_message(fmt::format("would take the source from {}", place.empty() ? from : place.string()));
    return unknown_of(all, {}, {"the source"}, options);
  }
  const auto ready = with_tools(cells);
  TRY_ASSIGN(auto symbols, resolve_symbols(spec, plan, ready, environment.platform, store, links.path()));
  symbols.set("source", ".");
  symbols.set("work", links.path().string());
  TRY_ASSIGN(const auto epoch, source_date_epoch(plan.revision.date));
  const auto steps = steps_of(plan, ready);
  auto known = unknown_of(all, steps, unknown_before(cells), options);
  auto& kept = known.kept;
  Executor executor({store,
                     symbols,
                     *source,
                     links.path(),
                     {},
                     epoch,
                     runner,
                     environment.platform,
                     options.log,
                     ToolStamps({}),
                     {},
                     {}},
                    steps);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto is_kept = [&](const std::string& id) { return kept.contains(id); };
    StepReport report;
    if (std::ranges::all_of(steps[i]->depends, is_kept) && executor.reuse(i, report)) kept.insert(steps[i]->id);
    if (report.error) return std::unexpected(*report.error);
  }
  return known;
}

}  // namespace

std::vector<const Step*> steps_of(const Plan& plan, const std::vector<const Cell*>& cells) {
  std::set<std::string> ids;
  for (const auto* cell : cells) ids.insert(cell->id);
  std::vector<const Step*> steps;
  for (const auto& step : plan.steps)
    if (std::ranges::any_of(step.cells, [&](const std::string& cell) { return ids.contains(cell); }))
      steps.push_back(&step);
  return steps;
}

Status check_given_content(const Spec& spec, const Plan& plan, const BuildOptions& options, CommandRunner& runner,
                           std::stop_token stop) {
  if (options.source.empty() && options.vendored.empty()) return {};
  auto here = options;
  here.dry_run = true;  // no run of the store's
  here.store_from.clear();
  here.store_push = false;
  TRY_ASSIGN(const auto opened, open_store(here, "", [](const std::string&) {}));
  return check_given_trees(
      spec, plan, options,
      {opened.store, runner, options.child_environment, {}, std::move(stop), options.log, options.offline});
}

Result<std::filesystem::path> look_for_source(const Spec& spec, const Plan& plan, const BuildOptions& options,
                                              CommandRunner& runner, std::stop_token stop) {
  TRY(check_given_places(spec, options));
  if (!options.source.empty() || !options.vendored.empty()) {
    TRY_ASSIGN(const auto links, links_folder(options));  // an archive is unpacked, and the store is left as it is
    auto elsewhere = options;
    elsewhere.store = links.path() / "store";
    TRY(check_given_content(spec, plan, elsewhere, runner, stop));
  }
  const auto store = Store::look_into(options.store, {});
  const SourceTools tools{store, runner, options.child_environment, {}, std::move(stop), {}, options.offline};
  auto unchecked = options;
  unchecked.source.clear();
  unchecked.vendored.clear();
  TRY_ASSIGN(const auto ready, find_source(spec, plan, unchecked, tools));
  if (ready) return ready->root;
  return look_for_trees(spec, plan, options, tools);
}

Result<TemporaryFolder> links_folder(const BuildOptions& options) {
  // A link there is TMPDIR/sk@..., some 53 bytes; the shortest tool below a store is STORE/toolchains/..., some 50.
  constexpr std::size_t k_mark = 4;
  const auto tmpdir = options.child_environment.find("TMPDIR");
  const bool usable = tmpdir != options.child_environment.end() && fits_a_flag_list(tmpdir->second) &&
                      tmpdir->second.size() + k_mark < options.store.string().size();
  return own_temporary(usable ? tmpdir->second : "/tmp", "sk");
}

Result<Build> look_into_store(const Spec& spec, const Plan& plan, const Environment& environment,
                              const BuildOptions& options, const std::vector<const Cell*>& cells,
                              const std::vector<const Step*>& steps, CommandRunner& runner, BuildObserver& observer,
                              const std::stop_token& stop) {
  TRY_ASSIGN(const auto known, known_steps(spec, plan, environment, options, cells, steps, runner, observer, stop));
  Build build;
  build.steps_unknown = known.unknown.size();
  build.unknown_before = known.before;
  build.steps_would_run = 0;
  for (const auto* step : steps) {
    const bool is_kept = known.kept.contains(step->id);
    observer.on_message(is_kept ? fmt::format("would reuse {}", step->id)
                                : fmt::format("would run {}: {}", step->id, join(step->argv, " ")));
    ++(is_kept ? build.steps_reused : *build.steps_would_run);
  }
  for (const auto& cell : plan.cells)
    if (!cell.buildable) build.skipped.push_back(cell.id);
  return build;
}

}  // namespace sagekit
