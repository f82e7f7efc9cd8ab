#include "resolve/kept_look.hpp"

#include "support/file.hpp"
#include "support/file_stamp.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"
#include "verify/report_json.hpp"

namespace sagekit {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_look_schema = "sagekit.look/1";

std::string stamp_text(const fs::path& file) {
  const auto stamp = stamp_of(file);
  return stamp ? to_string(*stamp) : std::string();
}

Json torch_json(const TorchTrait& torch) {
  return {{"kind", static_cast<int>(torch.kind)},
          {"version", torch.version},
          {"from", torch.from},
          {"missing_symbol", torch.missing_symbol},
          {"measured", torch.measured}};
}

Json traits_json(const Traits& traits) {
  Json json{{"torch", torch_json(traits.torch)},
            {"cuda", traits.cuda},
            {"cuda_from", traits.cuda_from},
            {"cuda_runtimes", traits.cuda_runtimes},
            {"has_metadata", traits.has_metadata},
            {"requires_dist", traits.requires_dist},
            {"requires_python", traits.requires_python},
            {"native", traits.native},
            {"glibc", traits.glibc},
            {"libc", traits.libc},
            {"modules_read", traits.modules_read},
            {"runs_on_from", traits.runs_on_from},
            {"arches_from", traits.arches_from},
            {"ptx_unsaid", traits.ptx_unsaid},
            {"date", traits.date},
            {"commit", traits.commit},
            {"contradiction", traits.contradiction},
            {"sha256", traits.sha256},
            {"damage", traits.damage},
            {"experimental", traits.experimental},
            {"notes", traits.notes}};
  json["cxx11_abi"] = traits.cxx11_abi ? Json(*traits.cxx11_abi) : Json(nullptr);
  Json& arches = json["arches"] = Json::array();
  for (const auto& arch : traits.arches)
    arches.push_back(
        {arch.capability.major, arch.capability.minor, arch.has_suffix, static_cast<int>(arch.suffix), arch.ptx});
  if (traits.runs_on) {
    WheelReport report;
    report.runs_on = *traits.runs_on;
    json["report"] = report_json(report, true);
  }
  return json;
}

/// Of traits_json; throws where it is not that.
Traits read_traits(const Json& json) {
  Traits traits;
  const Json& torch = json.at("torch");
  traits.torch = {static_cast<TorchTrait::Kind>(torch.at("kind").get<int>()), torch.at("version"), torch.at("from"),
                  torch.at("missing_symbol"), torch.at("measured")};
  const auto text = [&](const char* key, std::string& value) { value = json.at(key).get<std::string>(); };
  text("cuda", traits.cuda), text("cuda_from", traits.cuda_from);
  text("requires_python", traits.requires_python);
  text("glibc", traits.glibc), text("libc", traits.libc);
  text("runs_on_from", traits.runs_on_from), text("arches_from", traits.arches_from);
  text("date", traits.date), text("commit", traits.commit);
  text("contradiction", traits.contradiction), text("sha256", traits.sha256), text("damage", traits.damage);
  text("experimental", traits.experimental);
  traits.has_metadata = json.at("has_metadata");
  traits.native = json.at("native");
  traits.ptx_unsaid = json.at("ptx_unsaid");
  traits.modules_read = json.at("modules_read");
  traits.requires_dist = json.at("requires_dist").get<std::vector<std::string>>();
  traits.cuda_runtimes = json.at("cuda_runtimes").get<std::vector<std::string>>();
  traits.notes = json.at("notes").get<std::vector<std::string>>();
  if (const Json& abi = json.at("cxx11_abi"); !abi.is_null()) traits.cxx11_abi = abi.get<bool>();
  for (const Json& one : json.at("arches"))
    traits.arches.push_back(
        {{one.at(0), one.at(1)}, one.at(2), static_cast<ArchSuffix>(one.at(3).get<int>()), one.at(4)});
  if (json.contains("report")) traits.runs_on = read_report(json["report"]).value().runs_on;
  return traits;
}

}  // namespace

KeptLook::KeptLook(const Candidate& candidate, const Traits& before, const Target& target,
                   const ResolveOptions& options)
    : m_name(before.name), m_has_cases(before.has_cases) {
  std::error_code error;
  const fs::path file = fs::absolute(candidate.address, error);
  const auto program = own_stamp(), stamp = stamp_text(file);
  if (options.store.empty() || candidate.remote || error || program.empty() || stamp.empty()) return;
  Sha256 hash;
  for (const auto& field :
       {program, stamp, candidate.file, candidate.sha256, target.torch, stamp_text(file.parent_path() / "SHA256SUMS"),
        stamp_text(file.string() + ".sha256"), stamp_text(file.string() + ".provenance"),
        stamp_text(file.string() + ".publish.attestation"), traits_json(before).dump()})
    hash.field(field);
  for (const Plugin* plugin : options.plugins) hash.field(plugin->sha256());
  m_key = hash.hex();
  m_file = options.store / "looks" / (sha256_hex(file.string()).substr(0, 32) + ".json");
}

std::optional<Traits> KeptLook::find() const {
  if (m_file.empty()) return std::nullopt;
  const auto text = read_file(m_file);
  if (!text) return std::nullopt;
  const Json json = parse_json(*text);
  if (text_at(json, "schema") != k_look_schema || text_at(json, "key") != m_key) return std::nullopt;
  try {
    Traits traits = read_traits(json.at("traits"));
    traits.name = m_name;
    traits.has_cases = m_has_cases;
    return traits;
  } catch (const std::exception&) {  // somebody wrote into it: it is looked into again
    return std::nullopt;
  }
}

void KeptLook::keep(const Traits& after) const {
  std::error_code error;
  if (m_file.empty() || !fs::is_directory(m_file.parent_path().parent_path(), error)) return;
  if (!make_directories(m_file.parent_path())) return;
  (void)write_file_atomic(m_file,
                          json_text({{"schema", k_look_schema}, {"key", m_key}, {"traits", traits_json(after)}}));
}

}  // namespace sagekit
