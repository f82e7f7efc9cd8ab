#pragma once
// Which of several tools is taken, and what is said where none of them can be.

#include "environment/source_rank.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/environment.hpp>
#include <sagekit/version_number.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sagekit {

inline bool newer(std::string_view a, std::string_view b) {
  const auto left = parse_version_number(a), right = parse_version_number(b);
  if (!left || !right) return left.has_value() && !right.has_value();
  return *left > *right;
}

// By source, then the newest, then the order given.
template <class Tool, class Fits>
const Tool* best(const std::vector<Tool>& tools, Fits fits) {
  const Tool* chosen = nullptr;
  for (const auto& tool : tools) {
    if (!tool.ready || !fits(tool)) continue;
    const int rank = source_rank(tool.source), before = chosen == nullptr ? rank + 1 : source_rank(chosen->source);
    if (rank < before || (rank == before && newer(tool.version, chosen->version))) chosen = &tool;
  }
  return chosen;
}

// What was given on purpose and cannot be used is never quietly replaced by what happens to be installed. `may_fit`:
// could it be the wanted one, as far as is known of it?
template <class Tool, class MayFit>
const Tool* unusable_folder_tool(const std::vector<Tool>& tools, const Tool* chosen, MayFit may_fit) {
  if (chosen != nullptr && chosen->source == ToolSource::folder) return nullptr;
  const auto broken = std::ranges::find_if(
      tools, [&](const Tool& tool) { return tool.source == ToolSource::folder && !tool.ready && may_fit(tool); });
  return broken == tools.end() ? nullptr : &*broken;
}

inline bool unknown_or(const std::string& value, const std::string& wanted) { return value.empty() || value == wanted; }

// "there is 13.0 (/usr/local/cuda/bin/nvcc); 12.8 (/opt/x) cannot be used: why". `say` names one tool. Of nine Pythons
// the first three are enough to see that the right one is not among them.
template <class Tool, class Say>
std::string what_is_here(const std::vector<Tool>& tools, std::string_view none, Say say) {
  std::vector<std::string> ready, broken;
  for (const auto& tool : tools) {
    auto name = say(tool);
    auto& list = tool.ready ? ready : broken;
    if (!tool.ready) name += " cannot be used: " + tool.why_not;
    if (std::ranges::find(list, name) == list.end()) list.push_back(std::move(name));
  }
  constexpr std::size_t k_named = 3;
  if (ready.size() > k_named + 1) {
    ready[k_named - 1] += fmt::format(" and {} more", ready.size() - k_named);
    ready.resize(k_named);
  }
  const std::string here = ready.empty() ? std::string(none) : "there is " + join(ready, ", ");
  return broken.empty() ? here : here + "; " + join(broken, "; ");
}

}  // namespace sagekit
