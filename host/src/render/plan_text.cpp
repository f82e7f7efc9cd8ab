#include "render/plan_text.hpp"

#include "printable.hpp"
#include "render/companion_text.hpp"
#include "render/table.hpp"
#include "render/text.hpp"

#include <sagekit/shell_word.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace sagekit::host {

namespace {

enum class Where { here, fetched, nowhere };

/// What build would not fetch before it begins; null = it would fetch all that the cell lacks.
const Lack* lasting_lack(const Cell& cell, const PlanView& view) {
  const auto lasting = std::ranges::find_if(cell.lacks, [&](const Lack& lack) { return !view.fetched(cell, lack); });
  return lasting == cell.lacks.end() ? nullptr : &*lasting;
}

Where where(const Cell& cell, const PlanView& view) {
  if (lasting_lack(cell, view) || !view.source) return Where::nowhere;
  return cell.buildable && !view.source->empty() ? Where::here : Where::fetched;
}

const std::string& why_nowhere(const Cell& cell, const PlanView& view) {
  const auto* lack = lasting_lack(cell, view);
  return lack ? lack->error.message : view.source.error().message;
}

std::string word(const Console& console, Where where) {
  switch (where) {
    case Where::here: return console.green("yes");
    case Where::fetched: return console.yellow("fetched");
    case Where::nowhere: return console.red("no");
  }
  return "";
}

std::string arches_of(const Cell& cell) {
  std::vector<std::string> names;
  for (const auto& arch : cell.arches) names.push_back(to_string(arch));
  return fmt::format("{}", fmt::join(names, " "));
}

/// The id with a star for its Python: a glob that --cells takes. "" = the id does not say it.
std::string without_python(const Cell& cell) {
  std::string digits = cell.python;
  std::erase(digits, '.');
  const auto part = "python" + digits;
  const auto at = cell.id.find(part);
  return digits.empty() || at == std::string::npos ? ""
                                                   : cell.id.substr(0, at) + "*" + cell.id.substr(at + part.size());
}

/// Cells that differ in their Python only.
struct Family {
  std::string id;
  std::vector<const Cell*> cells;
  Where where = Where::here;
};

std::vector<Family> families_of(const Plan& plan, const PlanView& view) {
  std::vector<Family> families;
  for (const auto& cell : plan.cells) {
    const auto glob = without_python(cell);
    const auto state = where(cell, view);
    const auto same = [&](const Family& family) {
      const Cell& first = *family.cells.front();
      return !glob.empty() && without_python(first) == glob && first.arches == cell.arches && family.where == state;
    };
    const auto found = std::ranges::find_if(families, same);
    if (found == families.end()) {
      families.push_back({cell.id, {&cell}, state});
    } else {
      found->cells.push_back(&cell);
      found->id = glob;
    }
  }
  return families;
}

/// "3.10-3.14" for minors without a gap, else "3.10 3.12".
std::string pythons_of(const Family& family) {
  std::vector<std::string> minors;
  for (const auto* cell : family.cells) minors.push_back(cell->python);
  const auto minor = [](const std::string& python) { return std::atoi(python.c_str() + python.find('.') + 1); };
  std::ranges::sort(minors, {}, minor);
  const std::string &first = minors.front(), &last = minors.back();
  if (minors.size() > 1 && static_cast<std::size_t>(minor(last) - minor(first)) + 1 == minors.size())
    return first + "-" + last;
  return fmt::format("{}", fmt::join(minors, " "));
}

/// Cells as few words: a family's glob, "all cells", or how many and which is the first.
std::string cells_words(const std::vector<const Cell*>& cells, const Plan& plan, const std::vector<Family>& families) {
  if (cells.size() == 1) return cells.front()->id;
  if (cells.size() == plan.cells.size()) return "all cells";
  for (const auto& family : families)
    if (family.cells == cells) return family.id;
  return fmt::format("{} cells ({}, ...)", cells.size(), cells.front()->id);
}

std::string need_words(const TreeNeed& need) {
  if (need.kind == TreeKind::nvcc) return "nvcc " + need.cuda;
  std::string digits = need.cuda;
  std::erase(digits, '.');
  return fmt::format("torch {}+cu{}", need.torch, digits);
}

void remember(std::vector<std::pair<std::string, std::vector<const Cell*>>>& remarks, const std::string& remark,
              const Cell& cell) {
  const auto known = std::ranges::find_if(remarks, [&](const auto& entry) { return entry.first == remark; });
  if (known == remarks.end())
    remarks.push_back({remark, {&cell}});
  else
    known->second.push_back(&cell);
}

/// How many can be built: now, after fetching, not; what is fetched first, and why the others cannot.
std::string buildable_text(const Console& console, const Plan& plan, const PlanView& view,
                           const std::vector<Family>& families) {
  std::size_t counts[3] = {};
  std::vector<std::string> fetched;
  const auto add = [&](std::string what) {
    if (std::ranges::count(fetched, what) == 0) fetched.push_back(std::move(what));
  };
  std::vector<std::pair<std::string, std::vector<const Cell*>>> reasons;
  for (const auto& cell : plan.cells) {
    const auto state = where(cell, view);
    ++counts[static_cast<std::size_t>(state)];
    if (state == Where::nowhere) remember(reasons, why_nowhere(cell, view), cell);
    if (state != Where::fetched) continue;
    for (const auto& lack : cell.lacks) add(need_words(*view.fetched(cell, lack)));
    if (view.source->empty()) add("the source");
  }
  std::string text = wrap(fmt::format("{}: {} can be built here now, {} after fetching, {} not",
                                      counted(plan.cells.size(), "cell", "cells"), counts[0], counts[1], counts[2]),
                          "", "  ", view.width);
  std::ranges::sort(fetched);
  if (!fetched.empty())
    text += wrap(fmt::format("{}", fmt::join(fetched, ", ")), "  " + console.yellow("fetched") + " by build: ", "    ",
                 view.width);
  for (const auto& [reason, cells] : reasons)
    text += wrap(fmt::format("{}: {}", cells_words(cells, plan, families), printable(reason)),
                 "  " + console.red("no") + ": ", "    ", view.width);
  return text;
}

std::vector<std::string> notes_of(const Plan& plan, const std::vector<Family>& families) {
  std::vector<std::pair<std::string, std::vector<const Cell*>>> notes;
  for (const auto& cell : plan.cells)
    for (const auto& note : cell.notes) remember(notes, note, cell);
  std::vector<std::string> lines;
  for (const auto& [note, cells] : notes)
    lines.push_back(fmt::format("{}: {}", cells_words(cells, plan, families), printable(note)));
  return lines;
}

std::string notes_text(const Plan& plan, const std::vector<Family>& families, std::size_t width) {
  std::string text;
  for (const auto& note : notes_of(plan, families)) text += wrap(note, "  ", "    ", width);
  return text.empty() ? "" : "\nNotes\n" + text;
}

/// The names' common parts once: a star stands for what differs.
std::string name_pattern(const std::vector<Cell>& cells) {
  constexpr std::string_view k_ends = "-+.";
  const auto parts = [&](const std::string& name) {
    std::vector<std::string> list(1);
    for (const char c : name) {
      list.back() += c;
      if (k_ends.find(c) != std::string_view::npos) list.emplace_back();
    }
    return list;
  };
  auto pattern = parts(cells.front().wheel);
  for (const auto& cell : cells) {
    const auto other = parts(cell.wheel);
    if (other.size() != pattern.size()) return "";
    for (std::size_t i = 0; i < other.size(); ++i) {
      if (pattern[i] == other[i]) continue;
      const auto end = pattern[i].find_first_of(k_ends);
      pattern[i] = "*" + (end == std::string::npos ? "" : pattern[i].substr(end));
    }
  }
  return fmt::format("{}", fmt::join(pattern, ""));
}

std::string wheels_text(const Plan& plan, std::size_t width) {
  constexpr std::size_t k_few = 8;
  std::string text = "\nWheels\n";
  const auto pattern = plan.cells.size() > k_few ? name_pattern(plan.cells) : "";
  if (!pattern.empty()) return text + wrap(pattern + "  (--json has each name)", "  ", "    ", width);
  for (const auto& cell : plan.cells) text += "  " + cell.wheel + "\n";
  return text;
}

std::string excluded_text(const Console& console, const Plan& plan, std::size_t width) {
  std::string text;
  std::vector<std::pair<std::pair<std::string, std::string>, std::vector<std::string>>> reasons;
  for (const auto& cell : plan.excluded) {
    const auto key = std::pair{cell.reason, cell.source};
    const auto found = std::ranges::find_if(reasons, [&](const auto& entry) { return entry.first == key; });
    if (found == reasons.end())
      reasons.push_back({key, {cell.id}});
    else
      found->second.push_back(cell.id);
  }
  for (const auto& [reason, ids] : reasons) {
    for (const auto& id : ids) text += fmt::format("  {}\n", id);
    text += wrap(printable(reason.first), "    ", "    ", width);
    if (!reason.second.empty()) text += wrap(console.dim(printable(reason.second)), "    ", "    ", width);
  }
  return text.empty() ? "" : "\nExcluded\n" + text;
}

std::string steps_text(const Console& console, const Plan& plan) {
  std::string text = "\nSteps\n";
  for (const auto& step : plan.steps)
    text += fmt::format("  {}\n    {}\n", console.bold(step.id), shell_line(step.argv));
  return text;
}

}  // namespace

std::vector<std::string> plan_notes(const Plan& plan) { return notes_of(plan, {}); }

std::string plan_text(const Console& console, const Plan& plan, const PlanView& view) {
  const auto families = families_of(plan, view);
  std::string text = wrap(fmt::format("{} from {} at {}{}", console.bold(plan.plugin_name), plan.source_url,
                                      plan.commit.substr(0, 7), plan.subdir.empty() ? "" : " (" + plan.subdir + ")"),
                          "", "  ", view.width);
  text += buildable_text(console, plan, view, families) + "\n";
  if (!plan.cells.empty()) {
    Rows rows{{"cell", "Python", "here", "arches"}};
    for (const auto& family : families)
      rows.push_back({family.id, pythons_of(family), word(console, family.where), arches_of(*family.cells.front())});
    text += table(rows, "  ", view.width) + wheels_text(plan, view.width);
  }
  text += notes_text(plan, families, view.width) + excluded_text(console, plan, view.width);
  for (const auto& companion : plan.companions) text += "\n" + companion_text(console, companion);
  if (view.steps) text += steps_text(console, plan);
  text += "\n" + wrap(fmt::format("{} excluded; {}, {} of them different; about {} of CPU time, up to {} in one "
                                  "step",
                                  plan.excluded.size(), counted(plan.step_uses, "step", "steps"), plan.unique_steps,
                                  human_seconds(plan.cpu_seconds), human_bytes(plan.peak_memory_bytes)),
                      "", "  ", view.width);
  return text;
}

}  // namespace sagekit::host
