#include "verify/child/gpu_order.hpp"

#include "support/format.hpp"

namespace sagekit {

namespace {

bool is_for(const GpuCase& row, const Subject& subject, Capability gpu) {
  if (!row.capabilities.empty() && std::ranges::count(row.capabilities, gpu) == 0) return false;
  return subject.revision != nullptr &&
         holds(row.when, *subject.revision, {}, subject.claims.torch, subject.claims.cuda);
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

std::vector<GpuRun> gpu_runs(const Subject& subject, Capability gpu) {
  std::vector<GpuRun> runs;
  if (subject.spec == nullptr) return runs;
  for (const auto& row : subject.spec->verify.gpu)
    if (is_for(row, subject, gpu)) add_runs(row, runs);
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

}  // namespace sagekit
