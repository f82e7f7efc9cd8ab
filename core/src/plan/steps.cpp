#include "plan/steps.hpp"

#include "plan/half_costs.hpp"
#include "spec/libc_floor.hpp"
#include "spec/platform.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace sagekit {
namespace {

constexpr std::uint16_t k_any = 0xffff;
constexpr std::uint32_t k_no_gencode = 0xffffffff;

/// What torch's own headers cost beside a shim's: twice the CPU, three times the memory (the same measurements).
constexpr double k_full_header_cpu = 2;
constexpr std::uint64_t k_full_header_memory = 3;

/// 48 bits of an argv's FNV-1a hash: for names of files and steps only, the build has keys of its own.
std::string short_hash(const Argv& argv) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto mix = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3u; };
  for (const auto& item : argv) {
    for (const char c : item) mix(static_cast<unsigned char>(c));
    mix(0);
  }
  hash ^= hash >> 32;
  hash *= 0xff51afd7ed558ccdu;
  hash ^= hash >> 29;
  return fmt::format("{:012x}", hash & 0xffffffffffffu);
}

std::uint32_t intern(std::unordered_map<std::string, std::uint32_t>& table, std::string word) {
  return table.emplace(std::move(word), static_cast<std::uint32_t>(table.size())).first->second;
}

std::string stem_of(const std::string& path) {
  const auto file = after_last(path, '/');
  return file.substr(0, file.rfind('.'));
}

void write_outputs(Argv& argv, const std::vector<std::string>& outputs) {
  argv.insert(argv.end(), {"-o", outputs[0]});
  if (outputs.size() > 1) argv.insert(argv.end(), {"-MD", "-MF", outputs[1]});
}

}  // namespace

std::size_t StepTable::KeyHash::operator()(const Key& key) const {
  const auto axes = std::uint64_t{key.torch} | std::uint64_t{key.cuda} << 16 | std::uint64_t{key.platform} << 32 |
                    std::uint64_t{key.python} << 48;
  auto hash = axes * 0x9e3779b97f4a7c15u;
  hash ^= (std::uint64_t{key.flavour} << 32 | key.gencode) + (hash >> 31);
  hash *= 0xbf58476d1ce4e5b9u;
  return static_cast<std::size_t>(hash ^ hash >> 32);
}

StepTable::StepTable(const Spec& spec, const Matrix& matrix, bool full, bool microsoft)
    : m_spec(spec), m_matrix(matrix), m_full(full), m_microsoft(microsoft) {
  for (const auto& kernel : spec.kernels) m_works.push_back(works_of(kernel));
  mark_shared();
}

std::uint32_t StepTable::number(const std::vector<Gencode>& gencode) {
  std::string word;
  for (const auto& g : gencode) word += to_string(g) + " ";
  return intern(m_gencodes, std::move(word));
}

std::vector<StepTable::Work> StepTable::works_of(const KernelSpec& kernel) {
  // All that the kernel adds to an argv; two kernels that share a source and all of this share its step.
  const auto flavour = [&](std::string_view kind, const std::string& source, const std::string& shim,
                           const std::vector<std::string>& flags, bool sees_python) {
    return intern(m_flavours, fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", kind, source, shim, kernel.device_shim,
                                          join(flags, "\n"), kernel.torch_free, sees_python,
                                          kernel.torch_free ? std::string() : after_last(kernel.module, '.')));
  };
  std::vector<Work> works;
  for (const auto& source : kernel.sources) {
    const auto python = sources_see_python(kernel);
    works.push_back({StepKind::compile, source,
                     flavour("compile", source, kernel.source_shim, kernel.nvcc_flags, python), !kernel.torch_free,
                     python});
  }
  for (const auto& source : kernel.bindings) {
    const auto python = !kernel.plain_module;
    works.push_back({StepKind::bind, source, flavour("bind", source, kernel.binding_shim, kernel.cxx_flags, python),
                     !kernel.torch_free, python});
  }
  const auto python = std::ranges::any_of(works, &Work::sees_python);
  works.push_back({StepKind::link, {}, intern(m_flavours, "link\n" + kernel.module), !kernel.torch_free, python});
  return works;
}

/// Most works of a large matrix belong to one cell: those need no look-up.
void StepTable::mark_shared() {
  std::vector<std::uint32_t> users(m_flavours.size());
  for (const auto& works : m_works)
    for (const auto& work : works) ++users[work.flavour];
  for (auto& works : m_works)
    for (auto& work : works)
      work.shared = users[work.flavour] > 1 || (!work.sees_torch && m_matrix.torch.size() > 1) ||
                    (!work.sees_python && m_matrix.python.size() > 1);
}

const std::vector<std::uint32_t>& StepTable::module_steps(const ModulePart& part, Point point) {
  m_module_steps.clear();
  const auto kernel = static_cast<std::size_t>(part.kernel - m_spec.kernels.data());
  for (const auto& work : m_works[kernel]) m_module_steps.push_back(find_or_make(work, part, point));
  return m_module_steps;
}

std::uint32_t StepTable::find_or_make(const Work& work, const ModulePart& part, Point point) {
  if (!work.shared) return add(work, part, point);
  const Key key{work.flavour,
                work.kind == StepKind::bind ? k_no_gencode : part.gencode_number,
                work.sees_torch ? point.torch : k_any,
                point.cuda,
                point.platform,
                work.sees_python ? point.python : k_any};
  const auto [at, is_new] = m_known.emplace(key, m_count);
  return is_new ? add(work, part, point) : at->second;
}

std::uint32_t StepTable::add(const Work& work, const ModulePart& part, Point point) {
  if (m_full) m_steps.push_back(make(work, part, point));
  const auto cost = cost_of(work, part);
  return tally(cpu_seconds_of(work, part, point, cost), cost.peak_bytes());
}

/// As a build takes what nvcc makes apart (build/device_action.hpp): GPU code that several steps share is counted with
/// the first of them.
double StepTable::cpu_seconds_of(const Work& work, const ModulePart& part, Point point, const Cost& cost) {
  const bool shimmed = !part.kernel->device_shim.empty();
  if (work.kind != StepKind::compile || (is_windows(m_matrix.platform.values[point.platform]) && !shimmed))
    return cost.cpu_seconds;
  std::set<Arch> archs;
  for (const auto& gencode : part.gencode) archs.insert(gencode.compute);
  if (archs.empty()) return cost.cpu_seconds;
  const bool limited_api = work.sees_python && !m_matrix.python.least[point.python].empty();
  const Key key{work.flavour,
                part.gencode_number,
                !shimmed && work.sees_torch ? point.torch : k_any,
                point.cuda,
                k_any,
                !shimmed && limited_api ? point.python : k_any};
  const auto host = host_cost(cost, archs.size()).cpu_seconds;
  if (!m_devices.insert(key).second) return host;
  return host + static_cast<double>(archs.size()) * device_cost(cost, archs.size(), shimmed).cpu_seconds;
}

std::uint32_t StepTable::tally(double cpu_seconds, std::uint64_t memory_bytes) {
  m_cpu_seconds += cpu_seconds;
  m_peak_memory_bytes = std::max(m_peak_memory_bytes, memory_bytes);
  return m_count++;
}

Cost StepTable::cost_of(const Work& work, const ModulePart& part) const {
  switch (work.kind) {
    case StepKind::compile:
      return {cpu_for_arches(part.kernel->source_cost.cpu_seconds, part.gencode.size()),
              part.kernel->source_cost.memory_bytes, part.kernel->source_cost.device_memory_bytes};
    case StepKind::bind: return part.kernel->binding_cost;
    case StepKind::link:
    case StepKind::setup_py:
    case StepKind::device:
    case StepKind::host: break;
  }
  return m_spec.build.link_cost;
}

Step StepTable::make(const Work& work, const ModulePart& part, Point p) {
  const auto& kernel = *part.kernel;
  const CellWords target{m_matrix.torch.values[p.torch],
                         m_matrix.cuda.values[p.cuda],
                         m_matrix.python.values[p.python],
                         m_matrix.platform.values[p.platform],
                         m_matrix.torch.least[p.torch],
                         !m_matrix.python.least[p.python].empty(),
                         m_microsoft};
  const auto short_name = after_last(kernel.module, '.');
  const bool windows = is_windows(target.platform);
  Step step;
  step.kind = work.kind;
  step.module = kernel.module;
  step.cost = cost_of(work, part);
  if (work.kind == StepKind::link) {
    std::vector<std::string> objects;
    for (const auto number : m_module_steps) {
      objects.push_back(m_steps[number].outputs.front());
      step.depends.push_back(m_steps[number].id);
    }
    step.argv = link_argv(m_spec, kernel, objects, target);
    const auto hash = short_hash(step.argv);
    step.id = fmt::format("link-{}-{}", short_name, hash);
    step.inputs = std::move(objects);
    step.outputs = {fmt::format("{{work}}/lib/{}-{}.{}", short_name, hash, windows ? "pyd" : "so")};
    write_outputs(step.argv, step.outputs);
    return step;
  }

  const auto compile = work.kind == StepKind::compile;
  const auto& shim = compile ? kernel.source_shim : kernel.binding_shim;
  const auto argv = [&](Headers headers) {
    return compile ? compile_argv(m_spec, kernel, work.source, part.gencode, target, headers)
                   : bind_argv(m_spec, kernel, work.source, target, headers);
  };
  step.argv = argv(Headers::shimmed);
  if (!shim.empty() && m_spec.build.shim_fallback) step.fallback_argv = argv(Headers::full);
  if (compile && !kernel.device_shim.empty()) step.device_argv = argv(Headers::device);
  auto words = step.argv;
  if (windows) words.insert(words.end(), step.device_argv.begin(), step.device_argv.end());  // where the archs are
  const auto hash = short_hash(words);
  const auto name = fmt::format("{{work}}/obj/{}-{}-{}", short_name, stem_of(work.source), hash);
  step.id = fmt::format("{}-{}-{}-{}", compile ? "compile" : "bind", short_name, after_last(work.source, '/'), hash);
  step.inputs = {"{source}/" + work.source};
  if (windows) step.inputs.push_back(fmt::format("{{shim-{}}}", k_windows_shim));
  if (takes_floor_shim(m_spec, target.platform)) step.inputs.push_back(fmt::format("{{shim-{}}}", k_floor_shim));
  if (!shim.empty()) step.inputs.push_back("{shim-" + shim + "}");
  step.outputs = {name + ".o", name + ".d"};
  write_outputs(step.argv, step.outputs);
  if (!step.fallback_argv.empty()) write_outputs(step.fallback_argv, step.outputs);
  return step;
}

std::uint32_t StepTable::setup_py_step(const Cell& cell, const std::vector<ModulePart>& parts) {
  Cost cost = m_spec.build.link_cost;
  for (const auto& part : parts) {
    const auto& kernel = *part.kernel;
    const auto add_cost = [&](const Cost& one, std::size_t times, bool shimmed) {
      cost.cpu_seconds += one.cpu_seconds * static_cast<double>(times) * (shimmed ? k_full_header_cpu : 1);
      cost.memory_bytes = std::max(cost.memory_bytes, one.memory_bytes * (shimmed ? k_full_header_memory : 1));
    };
    auto source = kernel.source_cost;
    source.cpu_seconds = cpu_for_arches(source.cpu_seconds, part.gencode.size());
    add_cost(source, kernel.sources.size(), !kernel.source_shim.empty());
    add_cost(kernel.binding_cost, kernel.bindings.size(), !kernel.binding_shim.empty());
  }
  if (m_full) {
    const CellWords target{cell.torch, cell.cuda, cell.python, cell.platform};
    Step step;
    step.id = "setup_py-" + cell.id;
    step.kind = StepKind::setup_py;
    step.outputs = {"{work}/wheels/" + cell.id};
    step.inputs = {"{source}"};
    step.argv = setup_py_argv(target, step.outputs.front());
    step.environment = setup_py_environment(m_spec, cell.arches, target);
    step.cost = cost;
    m_steps.push_back(std::move(step));
  }
  return tally(cost.cpu_seconds, cost.memory_bytes);
}

std::vector<std::string> StepTable::use(const std::vector<std::uint32_t>& steps, const std::string& cell) {
  std::vector<std::string> ids;
  ids.reserve(steps.size());
  for (const auto number : steps) {
    m_steps[number].cells.push_back(cell);
    ids.push_back(m_steps[number].id);
  }
  return ids;
}

}  // namespace sagekit
