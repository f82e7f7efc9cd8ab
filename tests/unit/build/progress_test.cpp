#include "build/progress.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace sagekit;

namespace {

struct LastEvent final : BuildObserver {
  void on_event(const BuildEvent& event) override { last = event; }
  void on_message(const std::string& /*text*/) override {}
  BuildEvent last;
};

}  // namespace

TEST_CASE("after the last step nothing is left, and no less") {
  LastEvent told;
  const std::vector<double> estimates{0.3, 0.2, 0.1};  // taken from their sum in this order they leave -2.8e-17
  Progress progress(told, estimates, 1);
  const Step step;
  for (std::size_t index = 0; index < estimates.size(); ++index) {
    StepReport report;
    report.outcome = StepOutcome::finished;
    report.measured.cpu_seconds = 1;
    progress.ended(index, step, report, false);
  }
  CHECK(told.last.done == 3);
  CHECK(told.last.eta_seconds == 0);
  CHECK_FALSE(std::signbit(told.last.eta_seconds));
}
