// The spec's cases are called on this machine's GPU, in child processes.
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"
#include "verify/checks/checks.hpp"
#include "verify/child/child_python.hpp"
#include "verify/child/gpu_cases.hpp"

#include <sagekit/arch.hpp>

#include <algorithm>
#include <map>

namespace sagekit {

extern const std::string_view k_child_gpu_cases;

namespace {

bool is_for(const GpuCase& row, const Artifact& artifact, Capability gpu) {
  if (!row.capabilities.empty() && std::ranges::count(row.capabilities, gpu) == 0) return false;
  return artifact.revision != nullptr &&
         holds(row.when, *artifact.revision, {}, artifact.provenance.torch, artifact.provenance.cuda);
}

void add_runs(const GpuCase& row, std::vector<GpuRun>& runs) {
  std::vector<GpuRun> all{{&row, {}}};
  for (const auto& axis : row.axes) {
    std::vector<GpuRun> longer;
    for (const auto& run : all)
      for (const auto& value : axis.values) {
        longer.push_back(run);
        longer.back().values.emplace_back(axis.name, value);
      }
    all = std::move(longer);
  }
  runs.insert(runs.end(), all.begin(), all.end());
}

Json row_json(const GpuCase& row) {
  Json json;
  json["call"] = row.call;
  json["arguments"] = row.arguments;
  json["reference"] = row.reference;
  json["reference_arguments"] = row.reference_arguments;
  json["inputs"] = Json::array();
  for (const auto& input : row.inputs)
    json["inputs"].push_back(
        {{"name", input.name}, {"shape", input.shape}, {"dtype", input.dtype}, {"distribution", input.distribution}});
  json["transposed"] = {{"axis", row.transposed.axis}, {"value", row.transposed.value}, {"dims", row.transposed.dims}};
  json["outputs"] = row.outputs;
  json["may_change"] = row.may_change;
  json["repetitions"] = row.repetitions;
  json["seconds"] = row.seconds;
  return json;
}

}  // namespace

std::string GpuRun::name() const {
  std::string text = row->id;
  for (const auto& [axis, value] : values) text += fmt::format(" {}={}", axis, value);
  return text;
}

std::vector<GpuRun> gpu_runs(const Artifact& artifact, Capability gpu) {
  std::vector<GpuRun> runs;
  if (artifact.spec == nullptr) return runs;
  for (const auto& row : artifact.spec->verify.gpu)
    if (is_for(row, artifact, gpu)) add_runs(row, runs);
  return runs;
}

Json gpu_order(const std::vector<GpuRun>& runs, const std::vector<std::size_t>& indexes) {
  Json order;
  order["rows"] = Json::array();
  order["cases"] = Json::array();
  std::vector<const GpuCase*> rows;
  for (const auto index : indexes) {
    const GpuRun& run = runs[index];
    if (rows.empty() || rows.back() != run.row) {
      rows.push_back(run.row);
      order["rows"].push_back(row_json(*run.row));
    }
    Json values = Json::object();
    for (const auto& [axis, value] : run.values) values[axis] = value;
    order["cases"].push_back({{"index", index}, {"row", rows.size() - 1}, {"values", std::move(values)}});
  }
  return order;
}

namespace {

namespace fs = std::filesystem;

constexpr double k_start_seconds = 300;  // a child's torch, from a cold disk
constexpr double k_all_seconds = 1800;   // of all children of one wheel together
constexpr int k_most_deaths = 3;         // of one row; then its rest is not tried

/// What ended the child while it ran a case.
GpuFacts death(const CommandResult& result, const GpuRun& run) {
  GpuFacts facts;
  // faulthandler writes "Timeout (0:02:00)!" when a case's own limit passes.
  if (result.timed_out || result.error_output.find("Timeout (") != std::string::npos)
    facts.ended = fmt::format("it does not come back within {} s", run.row->seconds);
  else if (result.signal != 0)
    facts.ended = fmt::format("it ends the process (signal {})", result.signal);
  else
    facts.ended = fmt::format("it ends the process (exit code {})", result.exit_code);
  return facts;
}

/// Runs all cases, in as many children as it takes: one that dies is followed by one for what is left.
class GpuCheck {
 public:
  GpuCheck(const ChildPythons& pythons, fs::path python, const std::vector<GpuRun>& runs)
      : m_pythons(pythons), m_python(std::move(python)), m_runs(runs) {
    for (std::size_t i = 0; i < runs.size(); ++i) m_left.push_back(i);
  }

  /// By index into the runs; those that are not there were not reached. Errors: interrupted.
  Result<std::map<std::size_t, GpuFacts>> run() {
    double seconds = 0;
    while (!m_left.empty() && seconds < k_all_seconds) {
      TRY_ASSIGN(const auto said, m_pythons.ask(m_python, k_child_gpu_cases, gpu_order(m_runs, m_left),
                                                k_all_seconds - seconds, {{"HOME", m_pythons.home().string()}}));
      seconds += said.result.wall_seconds;
      if (!take(said)) break;
    }
    return std::move(m_facts);
  }

 private:
  /// False: the child got nowhere, and the next would not either.
  bool take(const ChildOutput& said) {
    const std::size_t before = m_left.size();
    std::optional<std::size_t> running;
    for (const auto& line : said.lines) {
      if (const auto begun = index_of(line, "begin")) running = *begun;
      const auto ended = index_of(line, "case");
      if (!ended) continue;
      running.reset();
      m_facts[*ended] = read_gpu_facts(line);
      if (m_facts[*ended].device) died(*ended);
    }
    if (running) {
      m_facts[*running] = death(said.result, m_runs[*running]);
      died(*running);
    }
    std::erase_if(m_left, [&](std::size_t index) {
      return m_facts.contains(index) || m_deaths[m_runs[index].row] >= k_most_deaths;
    });
    return m_left.size() < before;
  }

  void died(std::size_t index) { ++m_deaths[m_runs[index].row]; }

  /// What a child says is checked: a number that is no case of ours is none.
  std::optional<std::size_t> index_of(const Json& line, std::string_view key) const {
    const auto found = line.find(key);
    if (found == line.end() || !found->is_number_unsigned()) return {};
    const auto index = found->get<std::uint64_t>();
    return index < m_runs.size() ? std::optional<std::size_t>(index) : std::nullopt;
  }

  const ChildPythons& m_pythons;
  fs::path m_python;
  const std::vector<GpuRun>& m_runs;
  std::vector<std::size_t> m_left;
  std::map<std::size_t, GpuFacts> m_facts;
  std::map<const GpuCase*, int> m_deaths;
};

/// The GPU of this interpreter's torch. Errors (failed): why there is none, as a reason to skip.
Result<GpuMachine> find_gpu(const Artifact& artifact, const fs::path& python, const ChildPythons& pythons) {
  const auto lacks = [&](std::string why) {
    return fail(ErrorKind::failed, "RUN101", fmt::format("{}: {}", python.string(), why));
  };
  const Json nothing{{"rows", Json::array()}, {"cases", Json::array()}};
  auto about = pythons.ask(python, k_child_gpu_cases, nothing, k_start_seconds, {});
  if (!about && about.error().kind == ErrorKind::interrupted) return std::unexpected(about.error());
  if (!about) return lacks("it does not start");
  if (const auto why = python_misfit(artifact, *about); !why.empty()) return lacks(why);
  if (const auto why = torch_misfit(artifact, *about); !why.empty()) return lacks(why);
  if (const auto why = about->text("lacks"); !why.empty()) return lacks(why);
  const auto capability = parse_capability(about->text("capability"));
  if (!capability) return lacks("its torch does not say which GPU this machine has");
  const auto own_path = about->raw("executable");
  return GpuMachine{about->text("gpu"), *capability, about->text("torch"),
                    own_path.empty() ? python : fs::path(own_path)};
}

}  // namespace

Result<std::optional<GpuGate>> check_gpu(const Artifact& artifact, const VerifyOptions& options, CommandRunner& runner,
                                         FindingList& findings) {
  const auto skip = [&](const std::string& reason, const std::string& hint = {}) {
    findings.skip_rest(reason, hint);
    return std::optional<GpuGate>();
  };
  if (artifact.spec == nullptr) return skip("no loaded plugin says what to call on a GPU");
  if (artifact.spec->verify.gpu.empty())
    return skip(fmt::format("the plugin {} says nothing to call on a GPU ([[verify.gpu]])", artifact.spec->name));
  if (options.interpreters.empty())
    return skip("no interpreter was given to call the GPU with",
                "--interpreter PATH, a Python with this wheel's torch");
  auto pythons = ChildPythons::unpack(artifact, options, runner);
  if (!pythons && pythons.error().kind == ErrorKind::failed) return skip(pythons.error().message, pythons.error().hint);
  if (!pythons) return std::unexpected(pythons.error());

  std::vector<std::string> reasons;
  for (const auto& python : options.interpreters) {
    const auto machine = find_gpu(artifact, python, *pythons);
    if (!machine && machine.error().kind != ErrorKind::failed) return std::unexpected(machine.error());
    if (!machine) {
      reasons.push_back(machine.error().message);
      continue;
    }
    const auto runs = gpu_runs(artifact, machine->capability);
    if (runs.empty()) {
      reasons.push_back(fmt::format("the plugin {} has no case for {} ({})", artifact.spec->name, machine->name,
                                    to_string(machine->capability)));
      continue;
    }
    TRY_ASSIGN(const auto facts, GpuCheck(*pythons, machine->python, runs).run());
    // One GPU, one verdict: a second interpreter has the same.
    return judge_gpu_runs(artifact, *machine, runs, facts, findings);
  }
  return skip(join(reasons, "; "));
}

}  // namespace sagekit
