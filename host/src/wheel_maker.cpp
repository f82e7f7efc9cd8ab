#include "wheel_maker.hpp"

#include "json_text.hpp"

#include <sagekit/reproducible.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

namespace sagekit::host {

namespace {

std::string wheel_event(const PackagedWheel& wheel) {
  return fmt::format(
      "{{\"event\":\"wheel\",\"cell\":{},\"path\":{},\"sha256\":\"{}\",\"size_bytes\":{},\"verdict\":\"{}\"}}\n",
      json_string(wheel.cell), json_string(wheel.path.string()), wheel.sha256, wheel.size_bytes,
      to_string(wheel.report.verdict()));
}

}  // namespace

std::string end_event(const Build& build, std::size_t wheels) {
  return fmt::format(
      "{{\"event\":\"end\",\"steps\":{{\"run\":{},\"reused\":{},\"failed\":{}}},\"wheels\":{},"
      "\"wall_seconds\":{:.3f},\"cpu_seconds\":{:.3f},\"peak_memory_bytes\":{}}}\n",
      build.steps_run, build.steps_reused, build.steps_failed, wheels, build.wall_seconds, build.cpu_seconds,
      build.peak_memory_bytes);
}

void WheelMaker::on_cell(const CellBuild& cell) {
  const auto lock = m_progress->give_way();
  auto made = m_problem ? std::unexpected(*m_problem) : package_cells(m_session, m_plugin, {cell}, m_options);
  if (!made) {
    m_problem = made.error();
    m_made.failed.push_back(not_packaged(cell.cell.id, *m_problem));
    return;
  }
  if (m_form == BuildProgress::Form::json_lines)
    for (const auto& wheel : made->wheels) m_session.console.document(wheel_event(wheel));
  std::ranges::move(made->wheels, std::back_inserter(m_made.wheels));
  std::ranges::move(made->refused, std::back_inserter(m_made.refused));
  std::ranges::move(made->failed, std::back_inserter(m_made.failed));
}

Packaging WheelMaker::finish(const Plan& plan) {
  m_progress.reset();
  const auto place = [&](const auto& made) { return std::ranges::find(plan.cells, made.cell, &Cell::id); };
  std::ranges::sort(m_made.wheels, {}, place);
  std::ranges::sort(m_made.refused, {}, place);
  std::ranges::sort(m_made.failed, {}, place);
  return std::move(m_made);
}

Result<std::vector<StepFailure>> check_reproducible(const Session& session, const Plugin& plugin, const Plan& plan,
                                                    const Environment& environment, BuildOptions options,
                                                    const Build& first, const std::stop_token& stop) {
  std::error_code error;
  options.store /= "second-build";
  options.store_from.clear();  // nothing that anybody kept
  options.store_push = false;
  std::filesystem::remove_all(options.store, error);
  session.console.say("building all of it a second time");
  BuildProgress progress(session.console, progress_form(session.global.quiet, false, session.settings.redraws));
  const auto second = run_build(plugin.spec(), plan, environment, options, *session.runner, progress, stop);
  if (!second) return std::unexpected(second.error());
  std::vector<StepFailure> different = second->failed;
  for (const auto& cell : first.cells) {
    const auto again = std::ranges::find(second->cells, cell.cell.id, [](const CellBuild& c) { return c.cell.id; });
    if (again == second->cells.end()) continue;
    const auto difference = first_difference(cell, *again);
    if (!difference) return std::unexpected(difference.error());
    if (difference->empty()) {
      session.console.say(fmt::format("{} {}: the same bytes", session.console.green("reproducible"), cell.cell.id));
      continue;
    }
    StepFailure failure;
    failure.cell = cell.cell.id;
    failure.step = "check-reproducible";
    failure.exit_code = 1;
    failure.cause = *difference;
    failure.log = options.store;
    session.console.show(Error{ErrorKind::failed, "BLD012",
                               fmt::format("{} is not reproducible: {}", failure.cell, *difference), "",
                               fmt::format("the second build is kept in {}", options.store.string())});
    different.push_back(std::move(failure));
  }
  if (different.empty()) std::filesystem::remove_all(options.store, error);
  return different;
}

}  // namespace sagekit::host
