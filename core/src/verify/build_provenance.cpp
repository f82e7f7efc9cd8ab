#include "verify/build_provenance.hpp"

#include "spec/platform.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"

#include <sagekit/version.hpp>

#include <algorithm>

namespace sagekit {

namespace {

Json names(const std::vector<ArchRequest>& arches) {
  Json list = Json::array();
  for (const auto& arch : arches) list.push_back(to_string(arch));
  return list;
}

}  // namespace

std::string experimental_label(const Spec& spec, std::string_view commit, std::string_view platform) {
  if (!is_windows(platform)) return {};
  const bool ran = std::ranges::any_of(
      spec.verify.ran, [&](const RanReport& report) { return report.platform == platform && report.commit == commit; });
  return ran ? std::string() : "built, not run on Windows";
}

SaidCell said_cell(const Cell& cell) {
  if (cell.tags.empty() ||
      !std::ranges::all_of(cell.tags, [](const auto& tag) { return tag.starts_with("py3-none-"); }))
    return {cell.id, cell.python};
  return {replace_all(cell.id, "-python" + without_dots(cell.python), ""), {}};
}

Provenance provenance_of(const Spec& spec, const CellBuild& build) {
  const Cell& cell = build.cell;
  const auto said = said_cell(cell);
  Provenance provenance{"the build record", said.id,       {},          build.commit,      said.python, cell.torch,
                        cell.cuda,          cell.platform, cell.arches, cell.requires_dist};
  provenance.torch_from = provenance.cuda_from = provenance.from;
  provenance.torch_min = cell.torch_min;
  if (!cell.torch_min.empty()) provenance.torch.clear();
  provenance.experimental = experimental_label(spec, build.commit, cell.platform);
  return provenance;
}

std::string provenance_json(const Spec& spec, const Revision& revision, const CellBuild& build) {
  const Cell& cell = build.cell;
  const auto said = said_cell(cell);
  Json json{{"schema", k_provenance_schema}, {"sagekit", SAGEKIT_VERSION}, {"cell", said.id}};
  json["plugin"] = {{"name", spec.name}, {"version", spec.version}};
  json["source"] = {{"url", spec.source.url},
                    {"commit", revision.commit},
                    {"date", revision.date},
                    {"version", revision.version},
                    {"subdir", spec.source.subdir}};
  json["python"] = said.python;
  json["torch"] = cell.torch_min.empty() ? cell.torch : std::string();
  if (!cell.torch_min.empty()) json["torch_min"] = cell.torch_min;
  json["cuda"] = cell.cuda;
  json["platform"] = cell.platform;
  json["arches"] = names(cell.arches);
  Json& gencode = json["gencode"] = Json::array();
  for (const auto& code : cell.gencode) gencode.push_back(to_string(code));
  json["requires_dist"] = cell.requires_dist;
  if (auto label = experimental_label(spec, revision.commit, cell.platform); !label.empty())
    json["experimental"] = std::move(label);
  json["tools"] = build.provenance;
  return json_text(json);
}

}  // namespace sagekit
