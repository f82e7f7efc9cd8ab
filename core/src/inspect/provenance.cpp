#include "inspect/provenance.hpp"

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
  provenance.from = k_provenance_file;
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
