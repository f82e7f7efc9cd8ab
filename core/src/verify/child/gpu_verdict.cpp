#include "support/format.hpp"
#include "support/text.hpp"
#include "verify/child/child_python.hpp"
#include "verify/child/gpu_cases.hpp"

#include <algorithm>
#include <cmath>

namespace sagekit {

namespace {

std::string text_of(const Json& line, std::string_view key) { return one_line(text_at(line, key)); }

std::optional<double> number_of(const Json& line, std::string_view key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? std::optional<double>(found->get<double>()) : std::nullopt;
}

/// One tolerance of a row against one case. `excess` is above 1 where it is not kept, and says which case is worst.
struct Measure {
  std::string_view name;
  std::optional<double> value;
  double limit = 0;
  bool at_least = false;

  bool judged() const { return limit > 0; }
  double excess() const {
    if (!value || std::isnan(*value)) return HUGE_VAL;
    return at_least ? (1 - *value) / std::max(1 - limit, 1e-12) : *value / limit;
  }
  std::string text() const {
    return fmt::format("{} {:.6g} ({} {:g})", name, value.value_or(NAN), at_least ? "at least" : "at most", limit);
  }
};

std::vector<Measure> measures(const GpuCase& row, const GpuFacts& facts) {
  std::vector<Measure> all{{"cosine", facts.cosine, row.cosine_min, true},
                           {"cosine of the worst row", facts.row_cosine, row.row_cosine_min, true},
                           {"relative L1 error", facts.relative_l1, row.relative_l1_max, false},
                           {"largest difference", facts.absolute, row.absolute_max, false}};
  std::erase_if(all, [](const Measure& one) { return !one.judged(); });
  return all;
}

/// What keeps a case from running here and is not the wheel's fault; "" = nothing.
std::string machine_lacks(const Artifact& artifact, const GpuFacts& facts) {
  if (facts.type == "ModuleNotFoundError" && !facts.missing.empty() && !holds_package(artifact, facts.missing))
    return fmt::format("that Python has no {}", facts.missing.substr(0, facts.missing.find('.')));
  if (facts.type == "OutOfMemoryError" || facts.error.find("out of memory") != std::string::npos)
    return "the GPU has not enough free memory";
  if (facts.error.find("C compiler") != std::string::npos) return "Triton finds no C compiler on this machine";
  return {};
}

/// The findings of one row.
class RowVerdict {
 public:
  RowVerdict(const Artifact& artifact, const GpuMachine& machine, const GpuCase& row)
      : m_artifact(artifact), m_machine(machine), m_row(row) {}

  void add(const GpuRun& run, const GpuFacts* facts) {
    ++m_cases;
    m_lacks = m_faulty = false;
    look(run, facts);
    m_judged += !m_lacks;
    m_passed += !m_lacks && !m_faulty;
  }

  std::size_t judged() const { return m_judged; }
  std::size_t passed() const { return m_passed; }

  void report(FindingList& findings) const {
    for (const auto& [code, fault] : m_faults)
      findings.broken(code,
                      fmt::format("{} in {} of {} cases on {}; {}: {}", m_row.id, fault.count, m_cases, gpu(),
                                  fault.count == 1 ? "it is" : "worst", fault.text),
                      m_row.call, fault.hint);
    for (const auto& [why, cases] : m_lacking)
      findings.skipped("RUN101", fmt::format("{}: {} of {} cases: {}", m_row.id, cases, m_cases, why));
    if (m_faults.empty() && m_lacking.empty())
      findings.note("RUN101",
                    fmt::format("{}: {} cases on {}{}", m_row.id, m_cases, gpu(),
                                m_worst.empty() ? ", without a reference" : "; worst: " + m_worst),
                    m_row.call);
  }

  bool passes() const { return m_lacking.empty() && m_faults.empty(); }

 private:
  struct Fault {
    std::size_t count = 0;
    double weight = 0;
    std::string text, hint;
  };

  std::string gpu() const {
    return fmt::format("{} ({}), torch {}", m_machine.name, to_string(m_machine.capability), m_machine.torch);
  }

  void fault(std::string_view code, double weight, const std::string& text, const GpuRun& run, std::string hint = {}) {
    m_faulty = true;
    Fault& known = m_faults[code];
    ++known.count;
    if (known.count > 1 && weight <= known.weight) return;
    known.weight = weight;
    known.text = fmt::format("{}: {}", run.name(), text);
    known.hint = std::move(hint);
  }

  void look(const GpuRun& run, const GpuFacts* facts) {
    if (facts == nullptr) return lacks("not reached after others of them ended the process", run);
    if (!facts->ended.empty()) return fault("RUN106", 1, facts->ended, run);
    if (!facts->error.empty() || !facts->type.empty()) return raised(run, *facts);
    if (!facts->changed.empty())
      fault("RUN103", 1, fmt::format("it writes to its input {}", join(facts->changed, ", ")), run);
    if (facts->unwritten > 0)
      fault("RUN104", 1 + facts->unwritten,
            fmt::format("{:.3g} % of the result still is what memory held before", 100 * facts->unwritten), run);
    else if (facts->differs && m_row.deterministic)
      fault("RUN104", 1, "the same inputs give other bits when memory held other bytes before, or at each run", run);
    if (facts->not_finite > 0 && facts->unwritten == 0)
      fault("RUN105", 1 + facts->not_finite,
            fmt::format("{:.3g} % of the result is NaN or infinite", 100 * facts->not_finite), run);
    compare(run, *facts);
  }

  void lacks(const std::string& why, const GpuRun&) {
    m_lacks = true;
    ++m_lacking[why];
  }

  void raised(const GpuRun& run, const GpuFacts& facts) {
    if (facts.device)
      return fault("RUN102", 1, facts.error, run,
                   "no kernel image: the module has no code for this GPU; an illegal instruction or a launch failure: "
                   "its code may be a trap, left by an nvcc that is too old");
    if (const auto why = machine_lacks(m_artifact, facts); !why.empty()) return lacks(why, run);
    fault("RUN100", 1, fmt::format("{}: {}", facts.type, facts.error), run);
  }

  void compare(const GpuRun& run, const GpuFacts& facts) {
    if (m_row.reference.empty()) return;
    if (!facts.shape.empty()) return fault("RUN101", HUGE_VAL, facts.shape, run);
    const auto all = measures(m_row, facts);
    const auto worst = std::ranges::max_element(all, {}, &Measure::excess);
    if (worst == all.end()) return;
    if (!worst->value) return;  // unwritten, or NaN: said already
    if (worst->excess() > 1) fault("RUN101", worst->excess(), worst->text(), run);
    if (m_worst.empty() || worst->excess() > m_worst_excess) {
      m_worst_excess = worst->excess();
      m_worst = fmt::format("{}: {}", run.name(), worst->text());
    }
  }

  const Artifact& m_artifact;
  const GpuMachine& m_machine;
  const GpuCase& m_row;
  std::size_t m_cases = 0, m_judged = 0, m_passed = 0;
  bool m_lacks = false, m_faulty = false;  ///< of the case that is looked at
  std::map<std::string_view, Fault> m_faults;
  std::map<std::string, std::size_t> m_lacking;  // by reason
  double m_worst_excess = 0;
  std::string m_worst;
};

}  // namespace

GpuFacts read_gpu_facts(const Json& line) {
  GpuFacts facts;
  facts.error = text_of(line, "error");
  facts.type = text_of(line, "type");
  facts.missing = text_of(line, "missing");
  facts.device = truth_at(line, "device");
  if (const auto changed = line.find("changed"); changed != line.end() && changed->is_array())
    for (const auto& name : *changed)
      if (name.is_string()) facts.changed.push_back(one_line(name.get_ref<const std::string&>()));
  facts.shape = text_of(line, "shape");
  facts.differs = truth_at(line, "differs");
  facts.unwritten = number_of(line, "unwritten").value_or(0);
  facts.not_finite = number_of(line, "not_finite").value_or(0);
  facts.cosine = number_of(line, "cosine");
  facts.row_cosine = number_of(line, "row_cosine");
  facts.relative_l1 = number_of(line, "relative_l1");
  facts.absolute = number_of(line, "absolute");
  return facts;
}

GpuGate judge_gpu_runs(const Artifact& artifact, const GpuMachine& machine, const std::vector<GpuRun>& runs,
                       const std::map<std::size_t, GpuFacts>& facts, FindingList& findings) {
  GpuGate gate{.capability = machine.capability, .gpu = machine.name};
  bool all_pass = true;
  for (std::size_t i = 0; i < runs.size();) {
    RowVerdict verdict(artifact, machine, *runs[i].row);
    const GpuCase* row = runs[i].row;
    for (; i < runs.size() && runs[i].row == row; ++i) {
      const auto found = facts.find(i);
      verdict.add(runs[i], found == facts.end() ? nullptr : &found->second);
    }
    verdict.report(findings);
    all_pass = all_pass && verdict.passes();
    gate.cases += verdict.judged();
    gate.passed += verdict.passed();
  }
  // A case that raised, hung or left its result unwritten says nothing about the rest.
  if (!all_pass) findings.skip_rest("not every case gave a result that could be judged");
  return gate;
}

}  // namespace sagekit
