#include "package/kept_verdict.hpp"

#include "support/file.hpp"
#include "support/file_stamp.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"
#include "verify/report_json.hpp"

namespace sagekit {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_verdict_schema = "sagekit.verdict/1";

fs::path verdict_file(const CellBuild& build) { return fs::path(build.record).replace_filename("verdict.json"); }

}  // namespace

std::optional<std::string> verdict_key(std::string_view plugin_sha256, const Revision& revision,
                                       const PackageOptions& options) {
  const auto program = own_stamp();
  const auto& verify = options.verify;
  if (program.empty() || verify.gpu || verify.policy_file || !verify.sha256_file.empty()) return std::nullopt;
  Sha256 hash;
  for (const auto& part : {program, std::string(plugin_sha256), revision.commit, options.naming, verify.policy,
                           verify.today, verify.fetch_flags})
    hash.field(part);
  const auto list = [&hash](const std::vector<std::string>& words) {
    hash.field(std::to_string(words.size()));
    for (const auto& word : words) hash.field(word);
  };
  list(verify.require);
  list(verify.allowed_defects);
  std::vector<std::string> words;
  for (const auto* schemes : {&options.schemes, &verify.schemes}) {
    words.push_back(std::to_string(schemes->size()));
    for (const auto& scheme : *schemes)
      words.insert(words.end(), {scheme.name, scheme.version, scheme.build, scheme.folder});
  }
  for (const auto& python : verify.interpreters) {
    const auto stamp = stamp_of(python);
    words.insert(words.end(), {python.string(), stamp ? to_string(*stamp) : std::string()});
  }
  for (const auto& torch : verify.torches) {
    const auto stamp = stamp_of(torch.root / "version.py");
    words.insert(words.end(), {torch.root.string(), torch.identity, stamp ? to_string(*stamp) : std::string()});
  }
  if (!verify.interpreters.empty())  // what no child sees (PATH of another shell) judges nothing
    for (const auto& [name, value] : verify.child_environment) words.insert(words.end(), {name, value});
  list(words);
  return hash.hex();
}

std::optional<KeptVerdict> find_verdict(const CellBuild& build, const std::string& key) {
  if (build.record.empty()) return std::nullopt;
  const auto text = read_file(verdict_file(build));
  if (!text) return std::nullopt;
  const auto json = parse_json(*text);
  if (text_at(json, "schema") != k_verdict_schema || text_at(json, "key") != key || !json.contains("report"))
    return std::nullopt;
  auto report = read_report(json["report"]);
  const auto size = json.find("size_bytes");
  if (!report || !report->pass || size == json.end() || !size->is_number_unsigned()) return std::nullopt;
  return KeptVerdict{text_at(json, "wheel"), text_at(json, "sha256"), size->get<std::uint64_t>(),
                     text_at(json, "stamp"), std::move(*report)};
}

void keep_verdict(const CellBuild& build, const std::string& key, const KeptVerdict& kept) {
  if (build.record.empty()) return;
  const Json json{{"schema", k_verdict_schema},
                  {"key", key},
                  {"wheel", kept.wheel},
                  {"sha256", kept.sha256},
                  {"size_bytes", kept.size_bytes},
                  {"stamp", kept.stamp},
                  {"report", report_json(kept.report, true)}};
  (void)write_file_atomic(verdict_file(build), json_text(json));
}

}  // namespace sagekit
