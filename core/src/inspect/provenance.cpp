#include "inspect/provenance.hpp"

#include "pypa/requirement_reader.hpp"
#include "spec/name_readings.hpp"
#include "spec/name_values.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"

#include <utility>

namespace sagekit {

Result<Provenance> read_provenance(std::string_view text) {
  const auto bad = [](std::string why) {
    return fail(ErrorKind::failed, "TRU003", fmt::format("{} cannot be read: {}", k_provenance_file, why));
  };
  const Json json = parse_json(text);
  if (!json.is_object()) return bad("it is not a JSON object");
  if (text_at(json, "schema") != k_provenance_schema)
    return bad(fmt::format("its schema is not {}", k_provenance_schema));
  Provenance provenance;
  provenance.from = provenance.torch_from = provenance.cuda_from = k_provenance_file;
  provenance.cell = text_at(json, "cell");
  if (const auto plugin = json.find("plugin"); plugin != json.end()) {
    provenance.plugin = text_at(*plugin, "name");
    provenance.plugin_version = text_at(*plugin, "version");
  }
  if (const auto source = json.find("source"); source != json.end()) {
    provenance.commit = text_at(*source, "commit");
    provenance.source_url = text_at(*source, "url");
    provenance.source_version = text_at(*source, "version");
    provenance.source_date = replace_all(text_at(*source, "date").substr(0, 10), "-", "");
  }
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
  provenance.tools = texts_at(json, "tools");
  return provenance;
}

Provenance provenance_of(std::optional<Provenance> record, std::span<const WheelNameReading> name,
                         const std::vector<std::string>& requires_dist) {
  Provenance said = record ? std::move(*record) : Provenance();
  if (!name.empty()) said.named = agreed_reading(name);
  if (said.is_recorded()) return said;
  const auto& named = said.named;
  said.torch = named.torch;
  said.torch_min = named.torch_min;
  said.cuda = named.cuda;
  // A maker's own word for its source ("post4") is no commit.
  if (is_commit(named.revision)) said.commit = named.revision;
  if (!said.torch.empty() || !said.torch_min.empty()) said.torch_from = k_said_by_name;
  if (!said.cuda.empty()) said.cuda_from = k_said_by_name;
  const auto pinned = pinned_release(requires_dist, "torch");
  if (pinned.empty() || said.torch == pinned || said.torch.starts_with(pinned + ".")) return said;
  said.torch = pinned;
  said.torch_min.clear();
  said.torch_from = "Requires-Dist";
  return said;
}

}  // namespace sagekit
