#include "plan/arches.hpp"
#include "plan/argv.hpp"
#include "plan/cell_choices.hpp"
#include "plan/choice.hpp"
#include "plan/matrix.hpp"
#include "plan/pair.hpp"
#include "plan/selection.hpp"
#include "plan/steps.hpp"
#include "plan/tools.hpp"
#include "spec/data.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/plan.hpp>
#include <sagekit/shell_word.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sagekit {
namespace {

/// Estimates are shown to a tenth of a second; sums of them stay readable.
double tenths(double seconds) { return std::round(seconds * 10) / 10; }

/// Modules for Windows are made with what was given for them, whatever else is there.
bool has_microsoft(const Environment& environment) {
  return std::ranges::any_of(environment.host_compilers,
                             [](const HostCompiler& c) { return c.kind == CompilerKind::msvc && c.ready; });
}

class Planner {
 public:
  Planner(const Spec& spec, const Request& request, const Environment& environment, Matrix matrix, CellChoices choices)
      : m_spec(spec),
        m_request(request),
        m_matrix(std::move(matrix)),
        m_choices(std::move(choices)),
        m_choice(m_choices.whole()),
        m_excludes(spec.matrix, m_matrix),
        m_steps(spec, m_matrix, request.with_steps, has_microsoft(environment)),
        m_machine(environment, m_matrix, m_choice.backend, m_choices.count()),
        m_pairs(m_choices.count() * m_matrix.torch.size() * m_matrix.cuda.size()) {}

  Result<Plan> run(const PlanOrigin& origin) {
    start(origin);
    const auto suffix_of = [&](Point p) -> Result<std::string_view> {
      TRY_ASSIGN(const auto* pair, pair_of(p));
      return std::string_view(pair->id_suffix);
    };
    TRY_ASSIGN(auto candidates, select_cells(m_spec, m_matrix, m_request, m_choice, suffix_of, m_plan.diagnostics));
    m_plan.cells.reserve(candidates.size());
    for (auto& candidate : candidates) {
      TRY_ASSIGN(const auto* pair, pair_of(candidate.point));
      TRY(add(candidate, *pair));
    }
    TRY(check_wheel_names());
    m_plan.unique_steps = m_steps.count();
    m_plan.cpu_seconds = tenths(m_steps.cpu_seconds());
    m_plan.peak_memory_bytes = m_steps.peak_memory_bytes();
    m_plan.steps = m_steps.take();
    return std::move(m_plan);
  }

 private:
  void start(const PlanOrigin& origin) {
    m_plan.plugin_name = m_spec.name;
    m_plan.plugin_version = m_spec.version;
    m_plan.plugin_path = origin.plugin_path;
    m_plan.plugin_sha256 = origin.plugin_sha256;
    m_plan.source_url = m_spec.source.url;
    m_plan.commit = m_choice.revision->commit;
    m_plan.subdir = m_spec.source.subdir;
    m_plan.revision = *m_choice.revision;
    m_plan.backend = m_choice.backend;
    m_plan.allowed_defects = m_choice.allowed_defects;
    m_plan.companions = m_spec.companions;
    m_plan.diagnostics = m_choices.unmatched();
  }

  Result<const PairPlan*> pair_of(Point p) {
    const auto choice = m_choices.index(p);
    auto& pair = m_pairs[m_matrix.pair(p) * m_choices.count() + choice];
    if (!pair) {
      TRY_ASSIGN(pair, plan_pair(m_spec, m_choices.at(choice), m_matrix.torch.values[p.torch],
                                 m_matrix.torch.least[p.torch], m_matrix.cuda.values[p.cuda], m_steps));
    }
    return &*pair;
  }

  WheelName wheel_of(Point p, const PairPlan& pair) const {
    const auto tag = python_tag(m_spec, m_matrix.python.values[p.python], is_abi3(p));
    const auto dash = tag.find('-');
    return {pair.distribution,     pair.version,           pair.build_tag,
            {tag.substr(0, dash)}, {tag.substr(dash + 1)}, {m_matrix.platform.values[p.platform]}};
  }

  bool is_abi3(Point p) const { return !m_matrix.python.least[p.python].empty(); }

  /// Why the cell is not made: the spec's own word first, it knows best.
  std::optional<Absence> exclusion(Point p, const PairPlan& pair) const {
    if (const auto* row = m_excludes.find(p)) return Absence{row->reason, row->source};
    const auto& torch = m_matrix.torch.values[p.torch];
    if (!torch.empty())
      if (auto absence = torch_absence(torch, m_matrix.cuda.values[p.cuda], m_matrix.platform.values[p.platform],
                                       m_matrix.python.values[p.python]))
        return absence;
    if (!pair.excluded.empty()) return Absence{pair.excluded, pair.source};
    return {};
  }

  Status add(SelectedCell& candidate, const PairPlan& pair) {
    const auto p = candidate.point;
    const auto wheel = wheel_of(p, pair);
    if (auto why = exclusion(p, pair)) {
      m_plan.excluded.push_back(
          {std::move(candidate.id), wheel.file_name(), std::move(why->reason), std::move(why->source)});
      return {};
    }
    auto& cell = m_plan.cells.emplace_back();
    cell.id = std::move(candidate.id);
    cell.python = m_matrix.python.values[p.python];
    cell.torch = m_matrix.torch.values[p.torch];
    cell.torch_min = m_matrix.torch.least[p.torch];
    cell.abi3 = is_abi3(p);
    cell.cuda = m_matrix.cuda.values[p.cuda];
    cell.platform = m_matrix.platform.values[p.platform];
    cell.arches = pair.arches;
    cell.arch_set = pair.arch_set;
    cell.gencode = pair.needs.gencode;
    cell.static_runtime = pair.needs.static_runtime;
    cell.wheel = wheel.file_name();
    cell.name_says_arches = says_arches(*m_choices.at(m_choices.index(p)).scheme);
    cell.distribution = pair.distribution;
    cell.version = pair.version;
    cell.build_tag = pair.build_tag;
    cell.tags = wheel.tags();
    cell.requires_dist = pair.requires_dist;
    cell.notes = pair.notes;
    add_steps(cell, p, pair);
    judge_machine(cell, p, pair);
    return check_naming(cell, *m_choices.at(m_choices.index(p)).scheme);
  }

  void judge_machine(Cell& cell, Point p, const PairPlan& pair) {
    auto tools = m_machine.tools_for(p, m_choices.index(p), pair.needs);
    cell.lacks = std::move(tools.lacks);
    cell.toolchain = std::move(tools.toolchain);
    cell.buildable = cell.lacks.empty();
    if (!cell.buildable) cell.why_not = cell.lacks.front().error.message;
  }

  void add_steps(Cell& cell, Point p, const PairPlan& pair) {
    m_cell_steps.clear();
    if (m_choice.backend == Backend::setup_py) {
      m_cell_steps.push_back(m_steps.setup_py_step(cell, pair.parts));
      for (const auto& part : pair.parts) add_module(cell, part, m_cell_steps.back());
    } else {
      for (const auto& part : pair.parts) {
        const auto& steps = m_steps.module_steps(part, p);
        m_cell_steps.insert(m_cell_steps.end(), steps.begin(), steps.end());
        add_module(cell, part, steps.back());
      }
      std::ranges::sort(m_cell_steps);  // numbers grow from what is needed to what needs it
      m_cell_steps.erase(std::ranges::unique(m_cell_steps).begin(), m_cell_steps.end());
    }
    m_plan.step_uses += m_cell_steps.size();
    if (m_request.with_steps) cell.steps = m_steps.use(m_cell_steps, cell.id);
  }

  void add_module(const Cell& cell, const ModulePart& part, std::uint32_t step) {
    if (!m_request.with_steps) return;
    m_plan.modules.push_back({part.kernel->module, module_path(*part.kernel, cell.python, cell.abi3, cell.platform),
                              m_steps.id(step), part.gencode, cell.id});
  }

  static bool says_arches(const NamingScheme& scheme) {
    const auto text = scheme.version + scheme.build;
    return text.find("{arches}") != std::string::npos || text.find("{sms}") != std::string::npos;
  }

  /// A scheme that was asked for and lacks a word of the cell makes a name that says something else, or nothing.
  Status check_naming(const Cell& cell, const NamingScheme& scheme) {
    if (m_request.naming.empty() || !m_named.emplace(cell.version, cell.build_tag, cell.platform).second) return {};
    const auto facts = name_facts(cell, m_plan.revision);
    auto values = naming_values(cell, m_plan.revision);
    values.python = naming_values(facts).python;
    if (auto name = write_wheel_name(scheme, facts, values); !name) {
      name.error().where = cell.id;
      name.error().hint +=
          fmt::format("; sagekit --plugin {} name {}{} shows what each scheme says", m_plan.plugin_name, cell.id,
                      m_request.revision.empty() ? "" : " --revision " + shell_word(m_request.revision));
      return std::unexpected(std::move(name.error()));
    }
    return {};
  }

  /// Wheels of one name cannot lie in one folder, unless they are the same file: better said before hours of compiling.
  Status check_wheel_names() const {
    std::unordered_map<std::string_view, const Cell*> first;
    first.reserve(m_plan.cells.size());
    for (const auto& cell : m_plan.cells) {
      const auto [at, is_new] = first.emplace(cell.wheel, &cell);
      if (is_new || is_same_wheel(*at->second, cell)) continue;
      return fail(ErrorKind::usage, "PLN012",
                  fmt::format("the wheels of {} and {} would both be named {}", at->second->id, cell.id, cell.wheel),
                  how_to_tell_apart());
    }
    return {};
  }

  /// One whose tags name no Python ("py3-none") is made from the same steps for each.
  static bool is_same_wheel(const Cell& one, const Cell& other) {
    return one.torch == other.torch && one.torch_min == other.torch_min && one.cuda == other.cuda &&
           one.platform == other.platform && one.arches == other.arches && one.requires_dist == other.requires_dist;
  }

  /// Does it give each cell a name of its own that says what the cell is?
  bool tells_apart(const NamingScheme& scheme) const {
    std::map<std::string, const Cell*> first;
    for (const auto& cell : m_plan.cells) {
      const auto facts = name_facts(cell, m_plan.revision);
      auto values = naming_values(cell, m_plan.revision);
      values.python = naming_values(facts).python;
      const auto name = write_wheel_name(scheme, facts, values);
      if (!name) return false;
      const auto [at, is_new] = first.emplace(*name, &cell);
      if (!is_new && !is_same_wheel(*at->second, cell)) return false;
    }
    return true;
  }

  std::string how_to_tell_apart() const {
    std::vector<std::string> schemes;
    for (const auto* rows : {&m_spec.schemes, &builtin_schemes()})
      for (const auto& scheme : *rows)
        if (tells_apart(scheme)) schemes.push_back("--naming " + scheme.name);
    const auto apart = std::string("take them one by one with --cells, and build each into a folder of its own");
    return schemes.empty() ? apart : fmt::format("name them apart with {}, or {}", join(schemes, " or "), apart);
  }

  const Spec& m_spec;
  const Request& m_request;
  Matrix m_matrix;
  CellChoices m_choices;
  const Choice& m_choice;  ///< what holds for the plan as a whole
  ExcludeRules m_excludes;
  StepTable m_steps;
  MachineCheck m_machine;
  std::vector<std::optional<PairPlan>> m_pairs;
  std::vector<std::uint32_t> m_cell_steps;
  std::set<std::tuple<std::string, std::string, std::string>> m_named;  ///< version, build tag, platform: checked
  Plan m_plan;
};

}  // namespace

namespace {

/// What its modules are compiled with. Names are made before a cell has its platform; those of Windows are refused.
std::optional<bool> string_abi(const Cell& cell) {
  if (!cell.torch_min.empty()) return {};
  return torch_has_new_strings(cell.torch, cell.cuda, cell.platform.empty() ? "linux_" : cell.platform);
}

}  // namespace

NamingValues naming_values(const Cell& cell, const Revision& revision) {
  NamingValues values{revision.version, cell.torch, cell.cuda,    replace_all(revision.date.substr(0, 10), "-", ""),
                      revision.commit,  {},         cell.arch_set};
  if (!cell.torch_min.empty()) {
    values.torch.clear();
    values.torch_min = cell.torch_min;
  }
  for (const auto& arch : cell.arches) values.arches.push_back({arch.capability, arch.suffix});
  if (const auto abi = string_abi(cell)) values.cxx11_abi = *abi ? "true" : "false";
  return values;
}

WheelNameReading name_facts(const Cell& cell, const Revision& revision) {
  WheelNameReading facts;
  if (const auto name = parse_wheel_name(cell.wheel)) {
    facts.python = join(name->python, ".");
    facts.abi = join(name->abi, ".");
    facts.platform = join(name->platform, ".");
  }
  facts.package = normalized_project(cell.distribution);
  facts.version = revision.version;
  facts.torch = cell.torch_min.empty() ? cell.torch : std::string();
  facts.torch_min = cell.torch_min;
  facts.cuda = cell.cuda;
  facts.arches = cell.arches;
  facts.revision = revision.commit;
  facts.date = replace_all(revision.date.substr(0, 10), "-", "");
  facts.cxx11_abi = string_abi(cell);
  return facts;
}

Result<Plan> make_plan(const Spec& spec, const Request& request, const Environment& environment,
                       const PlanOrigin& origin) {
  TRY_ASSIGN(auto choice, resolve_request(spec, request, environment));
  TRY(check_arches(spec, choice, request.arches));
  auto matrix = expand_matrix(spec.matrix);
  TRY_ASSIGN(auto choices, CellChoices::make(spec, matrix, request, environment, std::move(choice)));
  return Planner(spec, request, environment, std::move(matrix), std::move(choices)).run(origin);
}

}  // namespace sagekit
