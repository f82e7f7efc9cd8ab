#pragma once
// A plan for people: cells that differ in their Python only are one row.

#include "console.hpp"

#include <sagekit/error.hpp>
#include <sagekit/plan.hpp>
#include <sagekit/provision.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sagekit::host {

/// How it is shown. `fetched`: what build would fetch to mend a lack of a cell; empty = it would not. `source`: where
/// build has the source from without fetching it; "" = it fetches it, and an error keeps every cell from being built.
struct PlanView {
  std::function<std::optional<TreeNeed>(const Cell&, const Lack&)> fetched;
  Result<std::filesystem::path> source;
  bool steps = false;
  std::size_t width = 80;
};

/// What is to be known of its cells, each once: "all cells: ...".
std::vector<std::string> plan_notes(const Plan& plan);

std::string plan_text(const Console& console, const Plan& plan, const PlanView& view);

}  // namespace sagekit::host
