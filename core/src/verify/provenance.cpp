#include "verify/provenance.hpp"

#include "spec/platform.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"

#include <sagekit/version.hpp>

#include <algorithm>
#include <cctype>

namespace sagekit {

namespace {

constexpr std::string_view k_schema = "sagekit.provenance/1";

Json names(const std::vector<ArchRequest>& arches) {
  Json list = Json::array();
  for (const auto& arch : arches) list.push_back(to_string(arch));
  return list;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "d1a57a5" of the local version's part "gd1a57a5", or of the part alone; "" = it is no commit. Digits alone are a
/// date or a number of somebody's, and "d20251029" is the day of a tree that was changed.
std::string_view commit_of(std::string_view part) {
  const bool marked = part.starts_with('g');
  if (marked) part.remove_prefix(1);
  const auto letters = std::ranges::count_if(part, [](unsigned char c) { return std::isalpha(c) != 0; });
  const auto digits = static_cast<std::size_t>(std::ranges::count_if(part, is_digit));
  const bool day = part.size() == 9 && part[0] == 'd' && digits == 8;
  const bool hex = std::ranges::all_of(part, [](unsigned char c) { return std::isxdigit(c) != 0; });
  const bool said = marked || (letters > 0 && digits > 0 && !day);
  return hex && said && part.size() >= 7 && part.size() <= 40 ? part : std::string_view();
}

/// Digits and dots behind `word`: "2.11" of "torch2.11.20260117.g..." stops before a part that is a date or a commit. A
/// first part of `whole` digits, such as 130, is all of it.
std::string number_after(std::string_view text, std::string_view word, std::size_t most_parts, std::size_t whole) {
  const auto at = text.find(word);
  if (at == std::string_view::npos) return {};
  std::string number;
  std::size_t parts = 0;
  std::size_t start = at + word.size();
  if (start < text.size() && text[start] == '.') ++start;
  for (std::size_t i = start; i < text.size() && parts < most_parts;) {
    std::size_t end = i;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end == i || end - i > 4 || !commit_of(text.substr(i, text.find('.', i) - i)).empty()) break;
    number += (number.empty() ? "" : ".") + std::string(text.substr(i, end - i));
    ++parts;
    if (end >= text.size() || text[end] != '.' || (parts == 1 && number.size() >= whole)) break;
    i = end + 1;
  }
  return number;
}

/// "130" -> "13.0", "128" -> "12.8"; a number that has its dot already stays.
std::string cuda_of(std::string number) {
  if (number.find('.') == std::string::npos && number.size() >= 3) number.insert(number.size() - 1, ".");
  return number;
}

/// "2110" -> "2.11.0", "28" -> "2.8".
std::string torch_of(std::string number) {
  if (number.find('.') != std::string::npos || number.size() < 2) return number;
  if (number.size() > 2) number.insert(number.size() - 1, ".");
  return number.insert(1, ".");
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

Provenance provenance_of_version(std::string_view version) {
  Provenance provenance;
  const auto plus = version.find('+');
  if (plus == std::string_view::npos) return provenance;
  const std::string local = lower(version.substr(plus + 1));
  auto& torch = local.find("andhigher") == std::string::npos ? provenance.torch : provenance.torch_min;
  torch = torch_of(number_after(local, "torch", 3, 2));
  provenance.cuda = cuda_of(number_after(local, local.find("cuda") == std::string::npos ? "cu" : "cuda", 2, 3));
  for (const auto& part : split(local, '.'))
    if (const auto commit = commit_of(part); !commit.empty()) provenance.commit = commit;
  if (!torch.empty() || !provenance.cuda.empty() || !provenance.commit.empty()) provenance.from = "the version";
  return provenance;
}

}  // namespace sagekit
