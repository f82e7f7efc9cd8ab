#include "support/json.hpp"

#include <sagekit/plugin.hpp>

#include <algorithm>
#include <iterator>

namespace sagekit {

namespace {

template <class Rows, class MakeRow>
Json rows(const Rows& from, MakeRow make) {
  Json out = Json::array();
  for (const auto& row : from) out.push_back(make(row));
  return out;
}

template <class Values>
Json texts(const Values& values) {
  return rows(values, [](const auto& value) { return to_string(value); });
}

Json identity(const Plugin& plugin) {
  return {{"name", plugin.name()},
          {"version", plugin.spec().version},
          {"package", plugin.spec().metadata.name},
          {"path", plugin.path().string()},
          {"sha256", plugin.sha256()},
          {"abi", plugin.descriptor().abi},
          {"description", plugin.spec().description}};
}

}  // namespace

std::string plugins_json(const LoadedPlugins& loaded) {
  Json json{{"schema", "sagekit.plugins/1"}};
  json["plugins"] = rows(loaded.plugins, identity);
  json["rejected"] = rows(loaded.rejected, [](const RejectedPlugin& rejected) {
    return Json{{"path", rejected.path.string()}, {"code", rejected.error.code}, {"reason", rejected.error.message}};
  });
  json["shadowed"] = rows(loaded.shadowed, [](const auto& pair) {
    return Json{{"path", pair.first.string()}, {"by", pair.second.string()}};
  });
  return json_text(json);
}

std::string plugin_json(const Plugin& plugin) {
  const Spec& spec = plugin.spec();
  Json json{{"schema", "sagekit.plugin/1"}};
  json.update(identity(plugin));
  json["license"] = spec.license;
  json["judge"] = plugin.has_judge();
  json["source"] = {{"url", spec.source.url}, {"subdir", spec.source.subdir}, {"default", spec.source.default_commit}};
  json["source"]["revisions"] = rows(spec.source.revisions, [](const Revision& revision) {
    return Json{{"commit", revision.commit},   {"tree", revision.tree},   {"date", revision.date},
                {"version", revision.version}, {"names", revision.names}, {"features", revision.features},
                {"defects", revision.defects}};
  });
  json["arches"] = rows(spec.arches, [](const ArchSpec& arch) {
    return Json{{"capability", to_string(arch.capability)},
                {"gencode", texts(arch.gencode)},
                {"cuda", arch.cuda.text},
                {"on_request", arch.on_request},
                {"excluded", arch.excluded}};
  });
  json["modules"] = rows(spec.kernels, [](const KernelSpec& kernel) {
    return Json{{"module", kernel.module},
                {"capabilities", texts(kernel.capabilities)},
                {"sources", kernel.sources},
                {"bindings", kernel.bindings}};
  });
  json["dispatch"] = rows(spec.dispatch, [](const DispatchSpec& row) {
    return Json{{"capability", to_string(row.capability)},
                {"modules", row.modules},
                {"path", row.path},
                {"refused", row.refused}};
  });
  json["profiles"] = rows(spec.profiles, [](const Profile& profile) {
    return Json{{"name", profile.name}, {"description", profile.description}, {"cells", profile.cells}};
  });
  return json_text(json);
}

}  // namespace sagekit
