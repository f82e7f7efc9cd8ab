#include "verify/provenance.hpp"

#include "spec/name_values.hpp"
#include "spec/platform.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"

#include <sagekit/version.hpp>

#include <algorithm>
#include <utility>

namespace sagekit {

namespace {

constexpr std::string_view k_schema = "sagekit.provenance/1";

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
  provenance.torch_min = cell.torch_min;
  if (!cell.torch_min.empty()) provenance.torch.clear();
  provenance.experimental = experimental_label(spec, build.commit, cell.platform);
  return provenance;
}

std::string provenance_json(const Spec& spec, const Revision& revision, const CellBuild& build) {
  const Cell& cell = build.cell;
  const auto said = said_cell(cell);
  Json json{{"schema", k_schema}, {"sagekit", SAGEKIT_VERSION}, {"cell", said.id}};
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

Result<Provenance> read_provenance(std::string_view text) {
  const auto bad = [](std::string why) {
    return fail(ErrorKind::failed, "TRU003", fmt::format("{} cannot be read: {}", k_provenance_file, why));
  };
  const Json json = parse_json(text);
  if (!json.is_object()) return bad("it is not a JSON object");
  if (text_at(json, "schema") != k_schema) return bad(fmt::format("its schema is not {}", k_schema));
  Provenance provenance;
  provenance.from = k_provenance_file;
  provenance.cell = text_at(json, "cell");
  if (json.contains("plugin")) provenance.plugin = text_at(json["plugin"], "name");
  if (json.contains("source")) provenance.commit = text_at(json["source"], "commit");
  provenance.python = text_at(json, "python");
  provenance.torch = text_at(json, "torch");
  provenance.torch_min = text_at(json, "torch_min");
  provenance.cuda = text_at(json, "cuda");
  provenance.platform = text_at(json, "platform");
  provenance.experimental = text_at(json, "experimental");
  std::vector<ArchRequest> arches;
  for (const auto& item : json.value("arches", Json::array())) {
    if (!item.is_string()) return bad("an arch is not text");
    auto parsed = parse_arch_list(item.get<std::string>());
    if (!parsed) return bad(parsed.error().message);
    arches.insert(arches.end(), parsed->begin(), parsed->end());
  }
  provenance.arches = std::move(arches);
  provenance.requires_dist = texts_at(json, "requires_dist");
  return provenance;
}

Provenance provenance_of_name(WheelNameReading named) {
  Provenance provenance;
  provenance.torch = named.torch;
  provenance.torch_min = named.torch_min;
  provenance.cuda = named.cuda;
  // A maker's own word for its source ("post4") is no commit.
  if (is_commit(named.revision)) provenance.commit = named.revision;
  const bool any = !named.torch.empty() || !named.torch_min.empty() || !named.cuda.empty();
  if (any || !provenance.commit.empty()) provenance.from = "its name";
  provenance.named = std::move(named);
  return provenance;
}

}  // namespace sagekit
