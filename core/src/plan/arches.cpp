#include "plan/arches.hpp"

#include "spec/data.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace sagekit {
namespace {

bool cuda_holds(const VersionRange& range, std::string_view cuda) {
  const auto version = parse_version_number(cuda);
  return range.terms.empty() || (version && range.contains(*version));
}

/// What that nvcc cannot compile for, by core data.
std::optional<Absence> nvcc_obstacle(const std::vector<Gencode>& list, std::string_view cuda) {
  const auto version = parse_version_number(cuda);
  if (!version) return Absence{fmt::format("\"{}\" is no CUDA version", cuda), {}};
  for (const auto& gencode : list)
    for (const auto& arch : {gencode.compute, gencode.code})
      if (auto absence = nvcc_absence(*version, arch)) return absence;
  return {};
}

Gencode plain_ptx_of(Capability capability) { return {Arch{capability}, Arch{capability}, true}; }

/// Why this row cannot be used here; "" = it can.
std::string obstacle(const ArchSpec& row, const Choice& choice, std::string_view torch, std::string_view cuda) {
  const auto name = to_string(row.capability);
  if (!row.excluded.empty()) return fmt::format("{}: {}", name, row.excluded);
  if (!holds(row.when, *choice.revision, to_string(choice.backend)))
    return fmt::format("{}: source revision {} cannot be built for it", name, choice.revision->commit.substr(0, 7));
  if (!holds(row.when, *choice.revision, to_string(choice.backend), torch, cuda))
    return fmt::format("{}: not with torch {} and CUDA {}", name, torch, cuda);
  if (!cuda_holds(row.cuda, cuda)) return fmt::format("{} needs CUDA {}, this cell has {}", name, row.cuda.text, cuda);
  if (const auto absence = nvcc_obstacle(row.gencode, cuda)) return fmt::format("{}: {}", name, absence->reason);
  return {};
}

std::vector<const ArchSpec*> rows_of(const Spec& spec, Capability capability) {
  std::vector<const ArchSpec*> rows;
  for (const auto& row : spec.arches)
    if (row.capability == capability) rows.push_back(&row);
  return rows;
}

ArchSuffix code_suffix(const ArchSpec& row) {
  for (const auto& gencode : row.gencode)
    if (!gencode.ptx) return gencode.code.suffix;
  return ArchSuffix::none;
}

BuiltArch built(const ArchSpec& row, const ArchRequest& asked) {
  const auto literal = asked.has_suffix && asked.suffix != code_suffix(row);
  const Arch arch{row.capability, literal ? asked.suffix : code_suffix(row)};
  BuiltArch result;
  result.gencode = literal ? std::vector{Gencode{arch, arch, false}} : row.gencode;
  result.plain_ptx = asked.ptx;
  result.shown = {row.capability, arch.suffix != ArchSuffix::none, arch.suffix, asked.ptx};
  return result;
}

/// Of one with PTX and the same without, the first does.
void sort_unique(std::vector<BuiltArch>& arches) {
  std::ranges::sort(arches, {}, &BuiltArch::shown);
  std::erase_if(arches, [&](const BuiltArch& arch) {
    auto with_ptx = arch.shown;
    with_ptx.ptx = true;
    return !arch.shown.ptx && std::ranges::count(arches, with_ptx, &BuiltArch::shown) > 0;
  });
  const auto rest = std::ranges::unique(arches, {}, &BuiltArch::shown);
  arches.erase(rest.begin(), rest.end());
}

std::vector<std::string> set_names(const std::vector<BuiltArch>& arches) {
  std::vector<std::string> names;
  for (const auto& arch : arches)
    names.push_back(replace_all(sm_name({arch.shown.capability, arch.shown.suffix}), "_", "") +
                    (arch.shown.ptx ? "ptx" : ""));
  return names;
}

ArchSet default_set(const Spec& spec, const Choice& choice, std::string_view torch, std::string_view cuda) {
  ArchSet set;
  std::map<Capability, std::pair<std::string, std::string>> impossible;  // reason and source
  for (const auto& row : spec.arches) {
    if (!row.excluded.empty() || row.on_request) continue;
    if (auto problem = obstacle(row, choice, torch, cuda); !problem.empty()) {
      impossible.try_emplace(row.capability, std::move(problem), row.source);
      continue;
    }
    set.arches.push_back(built(row, {}));
    if (!row.warning.empty()) set.notes.push_back(fmt::format("{}: {}", to_string(row.capability), row.warning));
  }
  sort_unique(set.arches);
  // A capability may have several rows, for several revisions: one that serves is enough.
  for (const auto& arch : set.arches) impossible.erase(arch.shown.capability);
  std::vector<std::string> reasons;
  for (const auto& [capability, why] : impossible) {
    reasons.push_back(why.first);
    set.notes.push_back("left out: " + why.first);
  }
  if (!set.arches.empty() || spec.arches.empty()) return set;
  set.excluded = reasons.empty() ? "the spec has no default arch; name one" : join(reasons, "; ");
  if (!impossible.empty()) set.source = impossible.begin()->second.second;
  return set;
}

/// The row that makes what was asked for; null, with `problem` and `source` set, when none does here.
const ArchSpec* row_for(const Spec& spec, const Choice& choice, const ArchRequest& asked, std::string_view torch,
                        std::string_view cuda, std::string& problem, std::string& source) {
  for (const auto* row : rows_of(spec, asked.capability)) {
    auto reason = obstacle(*row, choice, torch, cuda);
    if (reason.empty()) return row;
    if (!row->excluded.empty() && !problem.empty()) continue;  // "needs CUDA >= 12.8" says more
    problem = std::move(reason);
    source = row->source;
  }
  return nullptr;
}

ArchSet asked_set(const Spec& spec, const Choice& choice, std::string_view torch, std::string_view cuda) {
  ArchSet set;
  for (const auto& asked : *choice.arches) {
    std::string problem, source;
    const auto* row = row_for(spec, choice, asked, torch, cuda, problem, source);
    if (!row) {
      set.excluded += (set.excluded.empty() ? "" : "; ") + problem;
      set.source = source;
      set.arches.push_back({asked, {}, asked.ptx});  // the id of the excluded cell says what was asked for
      continue;
    }
    auto arch = built(*row, asked);
    auto wanted = arch.gencode;
    if (asked.ptx) wanted.push_back(plain_ptx_of(asked.capability));
    if (const auto absence = nvcc_obstacle(wanted, cuda)) {
      set.excluded += (set.excluded.empty() ? "" : "; ") + to_string(asked) + ": " + absence->reason;
      set.source = absence->source;
    }
    set.arches.push_back(std::move(arch));
    if (!row->warning.empty()) set.notes.push_back(fmt::format("{}: {}", to_string(row->capability), row->warning));
  }
  sort_unique(set.arches);
  return set;
}

std::vector<std::string> buildable_names(const Spec& spec) {
  std::set<Capability> capabilities;  // one may have several rows, each for other revisions
  for (const auto& row : spec.arches)
    if (row.excluded.empty()) capabilities.insert(row.capability);
  std::vector<std::string> names;
  for (const auto& capability : capabilities) names.push_back(to_string(capability));
  return names;
}

bool takes_ptx(const Spec& spec, Capability capability) {
  return std::ranges::any_of(spec.kernels, [&](const auto& kernel) {
    return kernel.ptx && std::ranges::count(kernel.capabilities, capability) > 0;
  });
}

}  // namespace

Status check_arches(const Spec& spec, const Choice& choice, std::string_view typed) {
  if (!choice.arches) return {};
  for (const auto& asked : *choice.arches) {
    const auto name = to_string(asked.capability);
    const auto rows = rows_of(spec, asked.capability);
    if (rows.empty())
      return fail(ErrorKind::usage, "PLN006",
                  fmt::format("plugin {} has no arch {}", spec.name, name) +
                      (typed.find(name) == std::string_view::npos && !typed.empty()
                           ? fmt::format(", which \"{}\" asks for", typed)
                           : ""),
                  "buildable: " + join(buildable_names(spec), ", "));
    // A row that could serve: neither excluded nor closed to this revision.
    const auto open = std::ranges::find_if(rows, [&](const auto* row) {
      return row->excluded.empty() && holds(row->when, *choice.revision, to_string(choice.backend));
    });
    if (open == rows.end()) {
      const auto excluded = std::ranges::find_if(rows, [](const auto* row) { return !row->excluded.empty(); });
      if (excluded != rows.end())
        return fail(ErrorKind::usage, "PLN007",
                    fmt::format("{} cannot be built: {} ({})", name, (*excluded)->excluded, (*excluded)->source),
                    "buildable: " + join(buildable_names(spec), ", "));
      return fail(ErrorKind::usage, "PLN006",
                  fmt::format("source revision {} cannot be built for {} ({})", choice.revision->commit.substr(0, 7),
                              name, rows.front()->source),
                  "choose another --revision");
    }
    if (asked.has_suffix && !first_nvcc_for({asked.capability, asked.suffix}))
      return fail(ErrorKind::usage, "PLN006", fmt::format("no known nvcc compiles for {}", to_string(asked)),
                  "write " + name + " for what plugin " + spec.name + " makes of it");
    if (asked.ptx && !(*open)->ptx_allowed)
      return fail(ErrorKind::usage, "PLN008", fmt::format("{}+PTX: plugin {} allows no PTX for it", name, spec.name),
                  "ask for " + name + " without +PTX");
    if (asked.ptx && !takes_ptx(spec, asked.capability))
      return fail(ErrorKind::usage, "PLN008",
                  fmt::format("{}+PTX: no module of plugin {} is meant to carry PTX for it", name, spec.name),
                  "ask for " + name + " without +PTX");
  }
  return {};
}

ArchSet choose_arches(const Spec& spec, const Choice& choice, std::string_view torch, std::string_view cuda) {
  auto standard = default_set(spec, choice, torch, cuda);
  if (!choice.arches) return standard;
  auto set = asked_set(spec, choice, torch, cuda);
  if (choice.and_default_arches) {
    set.arches.insert(set.arches.end(), standard.arches.begin(), standard.arches.end());
    sort_unique(set.arches);
    set.notes.insert(set.notes.end(), standard.notes.begin(), standard.notes.end());
    std::ranges::sort(set.notes);
    set.notes.erase(std::ranges::unique(set.notes).begin(), set.notes.end());
  }
  if (!std::ranges::equal(set.arches, standard.arches, {}, &BuiltArch::shown, &BuiltArch::shown))
    set.names = set_names(set.arches);
  return set;
}

ArchSet claimed_arches(const Spec& spec, const Choice& choice, const std::vector<ArchRequest>& arches) {
  ArchSet set;
  for (const auto& asked : arches) {
    const ArchSpec* best = nullptr;
    for (const auto* row : rows_of(spec, asked.capability))
      if (!row->gencode.empty() && holds(row->when, *choice.revision, to_string(choice.backend)) && best == nullptr)
        best = row;
    ArchSpec itself;
    itself.capability = asked.capability;
    itself.gencode = {{Arch{asked.capability, asked.suffix}, Arch{asked.capability, asked.suffix}, false}};
    set.arches.push_back(built(best != nullptr ? *best : itself, asked));
  }
  sort_unique(set.arches);
  return set;
}

std::vector<Gencode> module_gencode(const KernelSpec& kernel, const ArchSet& set) {
  std::vector<Gencode> list;
  for (const auto& arch : set.arches) {
    const auto capability = arch.shown.capability;
    if (!std::ranges::count(kernel.capabilities, capability)) continue;
    for (const auto& gencode : arch.gencode)
      if (!gencode.ptx || kernel.ptx) list.push_back(gencode);
    if (arch.plain_ptx && kernel.ptx) list.push_back(plain_ptx_of(capability));
  }
  std::ranges::sort(list);
  const auto rest = std::ranges::unique(list);
  list.erase(rest.begin(), rest.end());
  return list;
}

}  // namespace sagekit
