#pragma once
// A plan for people: cells that differ in their Python only are one row.

#include "console.hpp"

#include <sagekit/plan.hpp>
#include <sagekit/provision.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sagekit::host {

/// How it is shown. `fetched`: what build would fetch to mend a lack of a cell; empty = it would not.
struct PlanView {
  std::function<std::optional<TreeNeed>(const Cell&, const Lack&)> fetched;
  bool steps = false;
  std::size_t width = 80;
};

/// What is to be known of its cells, each once: "all cells: ...".
std::vector<std::string> plan_notes(const Plan& plan);

std::string plan_text(const Console& console, const Plan& plan, const PlanView& view);

}  // namespace sagekit::host
