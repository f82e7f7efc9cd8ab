#include "support/json.hpp"

#include <sagekit/resolve.hpp>

namespace sagekit {

namespace {

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json machine_json(const Target& target) {
  Json json;
  Json& gpus = json["gpus"] = nullptr;
  if (target.gpus) {
    gpus = Json::array();
    for (const auto& gpu : *target.gpus)
      gpus.push_back(
          {{"name", or_null(gpu.name)}, {"capability", to_string(gpu.capability)}, {"driver", or_null(gpu.driver)}});
  }
  json["torch"] = target.has_torch == false ? Json("none") : or_null(target.torch);
  json["torch_cuda"] = or_null(target.torch_cuda);
  json["cxx11_abi"] = target.cxx11_abi ? Json(*target.cxx11_abi) : Json(nullptr);
  json["python"] = or_null(target.python);
  json["platform"] = or_null(target.platform);
  json["libc"] = or_null(target.libc);
  json["wsl"] = target.wsl;
  json["interpreter"] = or_null(target.interpreter.string());
  json["notes"] = target.notes;
  return json;
}

Json judged_json(const Judged& judged) {
  const Candidate& candidate = judged.candidate;
  Json json{{"file", candidate.file}, {candidate.remote ? "url" : "path", candidate.place}};
  if (!candidate.sha256.empty()) json["sha256"] = candidate.sha256;
  if (candidate.size_bytes > 0) json["size_bytes"] = candidate.size_bytes;
  if (!judged.code.empty()) json["code"] = judged.code;
  json["reason"] = judged.reason;
  if (!judged.would_tell.empty()) json["would_tell"] = judged.would_tell;
  if (!judged.facts.empty()) json["facts"] = judged.facts;
  return json;
}

Json list_json(const std::vector<Judged>& list) {
  Json json = Json::array();
  for (const auto& one : list) json.push_back(judged_json(one));
  return json;
}

}  // namespace

std::string resolve_json(const Resolution& resolution) {
  Json json{{"schema", "sagekit.resolve/1"},
            {"package", or_null(resolution.package)},
            {"machine", machine_json(resolution.target)}};
  json["chosen"] = resolution.fits.empty() ? Json(nullptr) : judged_json(resolution.fits.front());
  json["fits"] = list_json(resolution.fits);
  json["unknown"] = list_json(resolution.unknown);
  json["refused"] = list_json(resolution.refused);
  return json_text(json);
}

}  // namespace sagekit
