#pragma once
// What `build` makes while it builds: each wheel as soon as its cell is there; and the whole a second time when asked.

#include "packaging.hpp"
#include "render/build_progress.hpp"
#include "session.hpp"

#include <sagekit/build.hpp>

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sagekit::host {

/// Shows what happens, and makes each wheel as soon as its cell is there, while others are still compiled.
class WheelMaker : public BuildObserver {
 public:
  WheelMaker(const Session& session, const Plugin& plugin, const PackageOptions& options, BuildProgress::Form form)
      : m_session(session), m_plugin(plugin), m_options(options), m_form(form) {
    m_progress.emplace(session.console, form, session.settings.github_actions);
  }

  void on_event(const BuildEvent& event) override { m_progress->on_event(event); }
  void on_message(const std::string& text) override { m_progress->on_message(text); }
  void on_cell(const CellBuild& cell) override;

  /// In the plan's order, not in that of time.
  Packaging finish(const Plan& plan);
  /// After which nothing more was packaged: each cell from then on is in `failed`.
  const std::optional<Error>& problem() const { return m_problem; }

 private:
  const Session& m_session;
  const Plugin& m_plugin;
  const PackageOptions& m_options;
  BuildProgress::Form m_form;
  std::optional<BuildProgress> m_progress;
  Packaging m_made;
  std::optional<Error> m_problem;
};

/// The last event of --jsonl: the sums.
std::string end_event(const Build& build, std::size_t wheels);

/// Everything once more, in a store of its own. What came out differently is a failure of its cell.
Result<std::vector<StepFailure>> check_reproducible(const Session& session, const Plugin& plugin, const Plan& plan,
                                                    const Environment& environment, BuildOptions options,
                                                    const Build& first, const std::stop_token& stop);

}  // namespace sagekit::host
