#include "spec/companions_json.hpp"
#include "support/format.hpp"
#include "support/json.hpp"

#include <sagekit/plan.hpp>

#include <string_view>
#include <unordered_map>

namespace sagekit {
namespace {

template <class Values>
Json words(const Values& values) {
  auto list = Json::array();
  for (const auto& value : values) list.push_back(to_string(value));
  return list;
}

Json cell_json(const Cell& cell) {
  Json json;
  json["id"] = cell.id;
  json["python"] = cell.python;
  json["torch"] = cell.torch;
  if (!cell.torch_min.empty()) json["torch_min"] = cell.torch_min;
  if (cell.abi3) json["abi3"] = true;
  json["cuda"] = cell.cuda;
  json["platform"] = cell.platform;
  json["arches"] = words(cell.arches);
  json["gencode"] = words(cell.gencode);
  json["wheel"] = cell.wheel;
  json["requires_dist"] = cell.requires_dist;
  json["buildable"] = cell.buildable;
  json["why_not"] = cell.why_not;
  json["lacks"] = Json::array();
  for (const auto& [kind, error] : cell.lacks)
    json["lacks"].push_back(
        {{"kind", to_string(kind)}, {"code", error.code}, {"message", error.message}, {"hint", error.hint}});
  json["notes"] = cell.notes;
  return json;
}

Json step_json(const Step& step) {
  Json json;
  json["id"] = step.id;
  json["kind"] = to_string(step.kind);
  json["argv"] = step.argv;
  if (!step.fallback_argv.empty()) json["fallback_argv"] = step.fallback_argv;
  if (!step.environment.empty()) json["environment"] = step.environment;
  json["inputs"] = step.inputs;
  json["outputs"] = step.outputs;
  json["depends"] = step.depends;
  json["cells"] = step.cells;
  json["cpu_seconds_estimate"] = step.cost.cpu_seconds;
  json["memory_bytes_estimate"] = step.cost.peak_bytes();
  return json;
}

/// A string for Graphviz.
std::string dot_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string_view to_string(StepKind kind) {
  switch (kind) {
    case StepKind::compile: return "compile";
    case StepKind::bind: return "bind";
    case StepKind::link: return "link";
    case StepKind::setup_py: return "setup_py";
    case StepKind::device: return "device";
    case StepKind::host: return "host";
  }
  return {};
}

std::string_view to_string(LackKind kind) {
  switch (kind) {
    case LackKind::platform: return "platform";
    case LackKind::nvcc: return "nvcc";
    case LackKind::nvcc_arch: return "nvcc_arch";
    case LackKind::cuda_runtime: return "cuda_runtime";
    case LackKind::host_compiler: return "host_compiler";
    case LackKind::torch: return "torch";
    case LackKind::interpreter: return "interpreter";
    case LackKind::python_headers: return "python_headers";
    case LackKind::given_tool: return "given_tool";
  }
  return {};
}

std::string plan_json(const Plan& plan, bool with_steps) {
  Json json;
  json["schema"] = "sagekit.plan/1";
  json["plugin"] = {{"name", plan.plugin_name},
                    {"version", plan.plugin_version},
                    {"path", plan.plugin_path},
                    {"sha256", plan.plugin_sha256}};
  json["source"] = {{"url", plan.source_url}, {"commit", plan.commit}, {"subdir", plan.subdir}};
  json["cells"] = Json::array();
  for (const auto& cell : plan.cells) json["cells"].push_back(cell_json(cell));
  json["excluded"] = Json::array();
  for (const auto& cell : plan.excluded)
    json["excluded"].push_back(
        {{"id", cell.id}, {"wheel", cell.wheel}, {"reason", cell.reason}, {"source", cell.source}});
  json["companions"] = companions_json(plan.companions);
  json["totals"] = {{"cells", plan.cells.size()},
                    {"steps", plan.step_uses},
                    {"unique_steps", plan.unique_steps},
                    {"cpu_seconds_estimate", plan.cpu_seconds},
                    {"peak_memory_bytes_estimate", plan.peak_memory_bytes}};
  if (with_steps) {
    json["steps"] = Json::array();
    for (const auto& step : plan.steps) json["steps"].push_back(step_json(step));
  }
  return json_text(json);
}

std::string plan_dot(const Plan& plan) {
  std::string dot = "digraph plan {\n  rankdir=LR;\n  node [shape=box, fontname=\"monospace\"];\n";
  for (const auto& cell : plan.cells)
    dot += fmt::format("  {} [shape=folder, style={}];\n", dot_string(cell.id), cell.buildable ? "solid" : "dashed");
  for (const auto& cell : plan.excluded)
    dot +=
        fmt::format("  {} [shape=folder, style=dotted, tooltip={}];\n", dot_string(cell.id), dot_string(cell.reason));
  for (const auto& step : plan.steps) {
    dot += fmt::format("  {} [label={}];\n", dot_string(step.id),
                       dot_string(fmt::format("{} {}", to_string(step.kind), step.module)));
    for (const auto& needed : step.depends)
      dot += fmt::format("  {} -> {};\n", dot_string(needed), dot_string(step.id));
    // A cell takes links and whole builds; what those need follows from the arrows.
    if (step.kind == StepKind::link || step.kind == StepKind::setup_py)
      for (const auto& cell : step.cells) dot += fmt::format("  {} -> {};\n", dot_string(step.id), dot_string(cell));
  }
  return dot + "}\n";
}

}  // namespace sagekit
