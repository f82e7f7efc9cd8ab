#include "plan/pair.hpp"

#include "pypa/requirement_reader.hpp"
#include "spec/arch_names.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>

#include <algorithm>

namespace sagekit {
namespace {

bool concerns(const std::vector<Capability>& capabilities, const std::vector<ArchRequest>& arches) {
  return capabilities.empty() || std::ranges::any_of(arches, [&](const auto& arch) {
           return std::ranges::count(capabilities, arch.capability) > 0;
         });
}

void add_modules(const Spec& spec, const Choice& choice, const ArchSet& set, std::string_view torch,
                 std::string_view cuda, StepTable& steps, PairPlan& pair) {
  for (const auto& kernel : spec.kernels) {
    if (!holds(kernel.when, *choice.revision, to_string(choice.backend), torch, cuda)) continue;
    auto gencode = module_gencode(kernel, set);
    if (gencode.empty()) continue;
    pair.needs.gencode.insert(pair.needs.gencode.end(), gencode.begin(), gencode.end());
    pair.needs.torch |= !kernel.torch_free;
    pair.needs.python |= !kernel.plain_module;
    pair.needs.static_runtime |= kernel.torch_free;  // as link_argv has it
    pair.needs.device_alone &= !kernel.device_shim.empty() && kernel.python_free && !kernel.torch_free;
    const auto number = steps.number(gencode);
    pair.parts.push_back({&kernel, std::move(gencode), number});
  }
  auto& gencode = pair.needs.gencode;
  std::ranges::sort(gencode);
  const auto rest = std::ranges::unique(gencode);
  gencode.erase(rest.begin(), rest.end());

  for (const auto& arch : pair.arches)
    if (std::ranges::none_of(pair.parts, [&](const auto& part) {
          return std::ranges::count(part.kernel->capabilities, arch.capability) > 0;
        }))
      pair.notes.push_back(fmt::format("{}: no module is compiled for it", to_string(arch)));
  if (pair.parts.empty() && pair.excluded.empty() && !spec.kernels.empty())
    pair.excluded = fmt::format("no module is compiled for {}", arch_names(pair.arches));
}

/// The edit that mends a defect, if it is applied here.
const SourceEdit* mending_edit(const Spec& spec, const Choice& choice, const Defect& defect, std::string_view torch,
                               std::string_view cuda) {
  const auto edit = std::ranges::find_if(spec.source.edits, [&](const SourceEdit& e) {
    return e.id == defect.edit && holds(e.when, *choice.revision, to_string(choice.backend), torch, cuda);
  });
  return edit == spec.source.edits.end() ? nullptr : &*edit;
}

void judge_defects(const Spec& spec, const Choice& choice, std::string_view torch, std::string_view cuda,
                   PairPlan& pair) {
  for (const auto& id : choice.revision->defects) {
    const auto defect = std::ranges::find(spec.source.defects, id, &Defect::id);
    if (defect == spec.source.defects.end() || !concerns(defect->capabilities, pair.arches)) continue;
    const auto text = fmt::format("defect {}: {}", id, defect->message);
    if (const auto* edit = mending_edit(spec, choice, *defect, torch, cuda)) {
      pair.notes.push_back(fmt::format("{}; mended by source edit {}", text, edit->id));
    } else if (!defect->refuse) {
      pair.notes.push_back(text);
    } else if (std::ranges::binary_search(choice.allowed_defects, id)) {
      pair.notes.push_back(text + "; built all the same, as allowed");
    } else if (pair.excluded.empty()) {
      pair.excluded = fmt::format("{}; --allow-defect {} builds it anyway", text, id);
      pair.source = defect->source;
    }
  }
}

/// A requirement for one torch says nothing of a cell for every torch, nor the other way round.
bool concerns_torch(const std::string& requirement, std::string_view torch, std::string_view torch_min) {
  const auto exact = requirement.find("{torch}") != std::string::npos ||
                     requirement.find("{torch_minor}") != std::string::npos,
             least = requirement.find("{torch_min}") != std::string::npos;
  if (torch.empty()) return requirement.find("{torch") == std::string::npos;
  return torch_min.empty() ? !least : !exact;
}

Status add_names(const Spec& spec, const Choice& choice, std::string_view torch, std::string_view torch_min,
                 std::string_view cuda, PairPlan& pair) {
  Cell cell;  // without Python and platform: templates have no word for them
  cell.torch = torch;
  cell.torch_min = torch_min;
  cell.cuda = cuda;
  cell.arches = pair.arches;
  cell.arch_set = pair.arch_set;
  const auto values = naming_values(cell, *choice.revision);
  pair.distribution = file_name_project(spec.metadata.name);
  TRY_ASSIGN(pair.version, expand_template(choice.scheme->version, values));
  TRY_ASSIGN(pair.build_tag, expand_template(choice.scheme->build, values));
  for (const auto& text : choice.requires_dist) {
    if (!concerns_torch(text, torch, torch_min)) continue;
    TRY_ASSIGN(auto requirement, expand_template(text, values));
    if (const auto read = read_requirement(requirement); !read)
      return fail(ErrorKind::usage, "PLN014",
                  fmt::format("the wheels' requirement \"{}\"{} is none: {}", text,
                              requirement == text ? "" : fmt::format(", here \"{}\",", requirement), read.error()),
                  "as PEP 508 has it: \"triton>=3.5; platform_system == 'Linux'\"");
    pair.requires_dist.push_back(std::move(requirement));
  }
  return {};
}

}  // namespace

Result<PairPlan> plan_pair(const Spec& spec, const Choice& choice, std::string_view torch, std::string_view torch_min,
                           std::string_view cuda, StepTable& steps) {
  auto set = choose_arches(spec, choice, torch, cuda);
  PairPlan pair;
  if (!set.names.empty()) pair.id_suffix = "-" + join(set.names, "-");
  pair.arch_set = join(set.names, ".");
  pair.notes = std::move(set.notes);
  pair.excluded = std::move(set.excluded);
  pair.source = std::move(set.source);
  for (const auto& arch : set.arches) pair.arches.push_back(arch.shown);
  if (pair.excluded.empty()) add_modules(spec, choice, set, torch, cuda, steps, pair);
  judge_defects(spec, choice, torch, cuda, pair);
  for (const auto& advice : spec.advice)
    if (concerns(advice.capabilities, pair.arches)) pair.notes.push_back(advice.text);
  TRY(add_names(spec, choice, torch, torch_min, cuda, pair));
  return pair;
}

}  // namespace sagekit
