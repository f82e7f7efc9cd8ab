#include "generating_sdist.hpp"

#include "interrupt.hpp"
#include "render/text.hpp"

#include <sagekit/sdist.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sagekit::host {

int generate_sdist(Session& session, const Plugin& plugin, const SelectionArguments& selection,
                   const SdistRequest& wanted) {
  auto request = make_request(selection, session);
  // Which cell is chosen by who builds it; what is done to the source is the same for all.
  request.profile.clear();
  request.cells = {"*"};
  request.pythons = request.torches = request.cudas = request.platforms = {};
  request.arches.clear();
  request.with_steps = false;
  const auto plan = make_plan(plugin.spec(), request, Environment{});
  if (!plan) return report(session, plan.error());

  SdistOptions options;
  options.output_folder = wanted.output;
  options.command = wanted.command;
  if (!wanted.comes_with_sagekit) options.carried_plugin = plugin.path();
  auto store = session.store(selection.tools.store);
  if (!store) return report(session, store.error());
  options.build.store = std::move(*store);
  options.build.source = wanted.source;
  auto vendored = vendored_trees(wanted.vendored);
  if (!vendored) return report(session, vendored.error());
  options.build.vendored = std::move(*vendored);
  options.build.offline = selection.tools.offline;
  options.build.log = session.log;
  options.build.child_environment = session.settings.child_environment;
  options.say = [&](const std::string& text) { session.console.say(text); };
  const auto made = write_sdist(plugin.spec(), *plan, options, *session.runner, stop_on_signals());
  if (!made) return report(session, made.error());
  if (session.global.json) {
    session.console.document(sdist_json(*made));
    return 0;
  }
  session.console.result(made->path.string() + "\n");
  session.console.say(
      fmt::format("{}{}; {}", human_bytes(made->size_bytes), made->unchanged ? ", was there already" : "",
                  made->edits.empty() ? "its source is built as it is"
                                      : fmt::format("its build applies {}", fmt::join(made->edits, ", "))));
  return 0;
}

}  // namespace sagekit::host
