#include "pypa/release_text.hpp"
#include "release/variant_index.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/release.hpp>

#include <algorithm>
#include <chrono>
#include <set>

namespace sagekit {

namespace {

constexpr std::string_view k_release_schema = "sagekit.release/1";

Json runs_on_json(const std::vector<RunsOn>& rows) {
  Json list = Json::array();
  for (const auto& row : rows)
    list.push_back(
        {{"capability", to_string(row.capability)}, {"verdict", to_string(row.verdict)}, {"reason", row.reason}});
  return list;
}

std::string_view severity_word(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

/// The first fault of what is read: where, and what.
class ManifestReader {
 public:
  explicit ManifestReader(std::string_view origin) : m_origin(origin) {}

  std::string fault;

  void at(std::string place) { m_place = std::move(place); }
  void wrong(std::string_view what) {
    if (fault.empty()) fault = fmt::format("{} cannot be read as a release: {}{}", m_origin, m_place, what);
  }
  std::string text(const Json& json, const char* key, bool required = false) {
    const auto found = json.find(key);
    if (found != json.end() && found->is_string()) return found->get<std::string>();
    if (required || (found != json.end() && !found->is_null())) wrong(fmt::format("\"{}\" is no text", key));
    return {};
  }
  std::uint64_t number(const Json& json, const char* key) {
    const auto found = json.find(key);
    if (found != json.end() && found->is_number_unsigned()) return found->get<std::uint64_t>();
    wrong(fmt::format("\"{}\" is no number of bytes", key));
    return 0;
  }
  std::vector<std::string> texts(const Json& json, const char* key) {
    std::vector<std::string> list;
    const auto found = json.find(key);
    if (found == json.end()) return list;
    if (!found->is_array()) wrong(fmt::format("\"{}\" is no list", key));
    for (const auto& item : *found)
      if (item.is_string())
        list.push_back(item.get<std::string>());
      else
        wrong(fmt::format("\"{}\" has an item that is no text", key));
    return list;
  }
  const Json& child(const Json& json, const char* key) {
    static const Json k_none = Json::object();
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) return k_none;
    if (!found->is_object()) wrong(fmt::format("\"{}\" is no object", key));
    return found->is_object() ? *found : k_none;
  }
  const Json& list(const Json& json, const char* key) {
    static const Json k_none = Json::array();
    const auto found = json.find(key);
    if (found != json.end() && found->is_array()) return *found;
    if (found != json.end()) wrong(fmt::format("\"{}\" is no list", key));
    return k_none;
  }

 private:
  std::string m_origin, m_place;
};

void read_rows(ManifestReader& reader, const Json& json, ReleasedWheel& wheel) {
  for (const auto& row : reader.list(json, "runs_on")) {
    const auto capability = parse_capability(row.is_object() ? reader.text(row, "capability") : std::string());
    if (!capability) {
      reader.wrong("a row of \"runs_on\" has no capability");
      continue;
    }
    RunsOn one;
    one.capability = *capability;
    one.verdict = parse_run_verdict(reader.text(row, "verdict", true)).value_or(RunVerdict::unknown);
    one.reason = reader.text(row, "reason");
    wheel.runs_on.push_back(std::move(one));
  }
  for (const auto& row : reader.list(json, "findings")) {
    if (!row.is_object()) {
      reader.wrong("a row of \"findings\" is no object");
      continue;
    }
    Finding finding;
    finding.code = reader.text(row, "code", true);
    finding.message = reader.text(row, "message");
    finding.where = reader.text(row, "where");
    const auto severity = reader.text(row, "severity");
    finding.severity = severity == "error"     ? Severity::error
                       : severity == "warning" ? Severity::warning
                                               : Severity::note;
    finding.result = severity == "error" ? FindingResult::fail : FindingResult::warn;
    wheel.findings.push_back(std::move(finding));
  }
}

ReleasedWheel read_wheel_row(ManifestReader& reader, const Json& json) {
  ReleasedWheel wheel;
  wheel.file = reader.text(json, "file", true);
  reader.at(fmt::format("{}: ", wheel.file));
  const auto name = parse_wheel_name(wheel.file);
  if (!name) {
    reader.wrong("\"file\" is no name of a wheel");
    return wheel;
  }
  wheel.project = normalized_project(name->distribution);
  wheel.version = normal_version(name->version);
  wheel.url = reader.text(json, "url");
  wheel.size_bytes = reader.number(json, "size_bytes");
  wheel.sha256 = reader.text(json, "sha256", true);
  if (!is_sha256(wheel.sha256)) reader.wrong("\"sha256\" is not 64 digits from 0 to f");
  wheel.requires_python = reader.text(json, "requires_python");
  wheel.metadata_sha256 = reader.text(json, "metadata_sha256");
  if (!wheel.metadata_sha256.empty() && !is_sha256(wheel.metadata_sha256))
    reader.wrong("\"metadata_sha256\" is not 64 digits from 0 to f");
  wheel.uploaded = reader.text(json, "uploaded");
  if (!wheel.uploaded.empty() && !is_upload_time(wheel.uploaded)) reader.wrong("\"uploaded\" is no time in UTC");
  auto& origin = wheel.origin;
  origin.cell = reader.text(json, "cell");
  origin.python = reader.text(json, "python");
  origin.torch = reader.text(json, "torch");
  origin.torch_min = reader.text(json, "torch_min");
  origin.requires_torch = reader.text(json, "requires_torch");
  origin.cuda = reader.text(json, "cuda");
  origin.platform = reader.text(json, "platform");
  origin.arches = reader.texts(json, "arches");
  origin.commit = reader.text(json, "commit");
  origin.edits = reader.texts(json, "edits");
  origin.tools = reader.texts(json, "toolchain");
  read_rows(reader, json, wheel);
  wheel.verdict = parse_wheel_verdict(reader.text(json, "verdict")).value_or(WheelVerdict::unjudged);
  if (!name->variant.empty()) {
    auto variants = variant_line(json_line(reader.child(json, "variant")), name->variant, wheel.file);
    if (!variants) reader.wrong("\"variant\" is not its variant.json");
    wheel.variants = variants.value_or("");
  }
  return wheel;
}

}  // namespace

bool is_upload_time(std::string_view text) {
  constexpr std::string_view k_form = "0000-00-00T00:00:00";
  if (!text.ends_with('Z')) return false;
  text.remove_suffix(1);
  if (text.size() > k_form.size() && (text[k_form.size()] != '.' || !is_digits(text.substr(k_form.size() + 1))))
    return false;
  text = text.substr(0, k_form.size());
  if (text.size() != k_form.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (k_form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != k_form[i]) return false;
  const auto number = [&](std::size_t at) { return (text[at] - '0') * 10 + text[at + 1] - '0'; };
  const std::chrono::year_month_day date{std::chrono::year(number(0) * 100 + number(2)),
                                         std::chrono::month(static_cast<unsigned>(number(5))),
                                         std::chrono::day(static_cast<unsigned>(number(8)))};
  return date.year() > std::chrono::year(0) && date.ok() && number(11) < 24 && number(14) < 60 && number(17) < 60;
}

std::string release_json(const Release& release) {
  Json json{{"schema", k_release_schema}};
  json["plugin"] = {{"name", release.plugin}, {"version", release.plugin_version}, {"sha256", release.plugin_sha256}};
  json["source"] = {{"url", release.source_url}};
  Json& rows = json["wheels"] = Json::array();
  for (const auto& wheel : release.wheels) {
    const auto& origin = wheel.origin;
    Json row{{"file", wheel.file}};
    if (!wheel.url.empty()) row["url"] = wheel.url;
    row["size_bytes"] = wheel.size_bytes;
    row["sha256"] = wheel.sha256;
    if (!wheel.uploaded.empty()) row["uploaded"] = wheel.uploaded;
    row["requires_python"] = wheel.requires_python;
    row["metadata_sha256"] = wheel.metadata_sha256;
    row["cell"] = origin.cell;
    row["python"] = origin.python;
    row["torch"] = origin.torch;
    if (!origin.torch_min.empty()) row["torch_min"] = origin.torch_min;
    if (!origin.requires_torch.empty()) row["requires_torch"] = origin.requires_torch;
    row["cuda"] = origin.cuda;
    row["platform"] = origin.platform;
    row["arches"] = origin.arches;
    row["commit"] = origin.commit;
    row["edits"] = origin.edits;
    row["toolchain"] = origin.tools;
    row["runs_on"] = runs_on_json(wheel.runs_on);
    row["verdict"] = to_string(wheel.verdict);
    Json& findings = row["findings"] = Json::array();
    for (const auto& finding : wheel.findings)
      findings.push_back({{"code", finding.code},
                          {"severity", severity_word(finding.severity)},
                          {"message", finding.message},
                          {"where", finding.where}});
    if (!wheel.variants.empty()) row["variant"] = parse_json(wheel.variants);
    rows.push_back(std::move(row));
  }
  return json_text(json);
}

Result<Release> read_release(std::string_view text, std::string_view origin) {
  ManifestReader reader(origin);
  Release release;
  const Json json = parse_json(text);
  if (!json.is_object()) {
    reader.wrong("it is no JSON object");
  } else if (reader.text(json, "schema") != k_release_schema) {
    reader.wrong(fmt::format("its schema is not {}", k_release_schema));
  } else {
    const Json& plugin = reader.child(json, "plugin");
    release.plugin = reader.text(plugin, "name");
    release.plugin_version = reader.text(plugin, "version");
    release.plugin_sha256 = reader.text(plugin, "sha256");
    release.source_url = reader.text(reader.child(json, "source"), "url");
    std::set<std::string> names;
    for (const auto& row : reader.list(json, "wheels")) {
      reader.at("");
      if (!row.is_object()) {
        reader.wrong("a row of \"wheels\" is no object");
        break;
      }
      release.wheels.push_back(read_wheel_row(reader, row));
      release.wheels.back().origin.plugin = release.plugin;
      release.wheels.back().origin.plugin_version = release.plugin_version;
      release.wheels.back().origin.source_url = release.source_url;
      if (!names.insert(release.wheels.back().file).second) reader.wrong("it is listed twice");
      if (!reader.fault.empty()) break;
    }
  }
  if (!reader.fault.empty())
    return fail(ErrorKind::failed, "REL015", reader.fault,
                "get it again from where it is published; where that is lost, delete it and make it again: sagekit "
                "release DIR (then nothing knows any more which wheels, addresses and times were published)",
                std::string(origin));
  std::ranges::sort(release.wheels, {}, &ReleasedWheel::file);
  return release;
}

}  // namespace sagekit
