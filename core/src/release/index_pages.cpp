#include "release/index_pages.hpp"

#include "release/variant_index.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/text.hpp"

#include <sagekit/release_index.hpp>

#include <algorithm>
#include <set>

namespace sagekit {

namespace {

// 1.1 has versions, sizes and upload times, 1.3 provenance.
constexpr std::string_view k_api_version = "1.3";

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"pypi:repository-version\" content=\"{}\">\n{}\n<title>{}</title>\n</head>\n<body>\n{}</body>\n"
      "</html>\n",
      k_api_version, k_page_mark, title, body);
}

std::string quoted_json(std::string_view text) {
  const bool plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; });
  if (!plain) return json_line(Json(text));
  std::string quoted;
  quoted.reserve(text.size() + 2);
  return quoted.append(1, '"').append(text).append(1, '"');
}

bool is_absolute(std::string_view url) { return url.find("://") != std::string_view::npos; }

}  // namespace

std::string html_text(std::string_view text) {
  if (text.find_first_of("&<>\"'") == std::string_view::npos) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'')
      out += "&#39;";
    else
      out += c;
  }
  return out;
}

std::string url_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~' || c == '/')
      out += c;
    else
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string project_html(std::string_view project, const std::vector<IndexRow>& rows) {
  std::string body = fmt::format("<h1>{}</h1>\n", html_text(project));
  const auto out = std::back_inserter(body);
  for (const auto& row : rows) {
    fmt::format_to(out, "<a href=\"{}#sha256={}\"", html_text(row.url), row.sha256);
    if (!row.requires_python.empty())
      fmt::format_to(out, " data-requires-python=\"{}\"", html_text(row.requires_python));
    // Both names: PEP 714 renamed what pip before 23.2 knows by the old one only.
    if (!row.metadata_sha256.empty())
      fmt::format_to(out, " data-core-metadata=\"sha256={0}\" data-dist-info-metadata=\"sha256={0}\"",
                     row.metadata_sha256);
    if (row.yanked) fmt::format_to(out, " data-yanked=\"{}\"", html_text(row.yanked_reason));
    // PEP 740: in HTML an address must be a whole one.
    if (is_absolute(row.provenance)) fmt::format_to(out, " data-provenance=\"{}\"", html_text(row.provenance));
    fmt::format_to(out, ">{}</a><br>\n", html_text(row.file));
  }
  return html_page("Links for " + html_text(project), body);
}

std::string project_json(std::string_view project, const std::vector<IndexRow>& rows) {
  std::set<std::string> versions;
  for (const auto& row : rows)
    if (!row.version.empty()) versions.insert(row.version);
  std::string text = fmt::format("{{\n  \"meta\": {{\"api-version\": \"{}\"}},\n  \"name\": {},\n  \"versions\": [",
                                 k_api_version, quoted_json(project));
  const auto out = std::back_inserter(text);
  for (const auto& version : versions)
    fmt::format_to(out, "{}{}", version == *versions.begin() ? "" : ", ", quoted_json(version));
  text += "],\n  \"files\": [";
  bool first = true;
  for (const auto& row : rows) {
    fmt::format_to(out, "{}\n    {{\"filename\": {}, \"url\": {}, \"hashes\": {{\"sha256\": \"{}\"}}, \"size\": {}",
                   first ? "" : ",", quoted_json(row.file), quoted_json(row.url), row.sha256, row.size_bytes);
    first = false;
    if (!row.requires_python.empty())
      fmt::format_to(out, ", \"requires-python\": {}", quoted_json(row.requires_python));
    if (!row.metadata_sha256.empty())
      // Not under the old name as well: pip 22.3 to 23.0 ends in a traceback over it (PEP 714).
      fmt::format_to(out, ", \"core-metadata\": {{\"sha256\": \"{}\"}}", row.metadata_sha256);
    if (row.yanked && !row.yanked_reason.empty())
      fmt::format_to(out, ", \"yanked\": {}", quoted_json(row.yanked_reason));
    else
      fmt::format_to(out, ", \"yanked\": {}", row.yanked);
    if (!row.uploaded.empty()) fmt::format_to(out, ", \"upload-time\": {}", quoted_json(row.uploaded));
    if (!row.provenance.empty()) fmt::format_to(out, ", \"provenance\": {}", quoted_json(row.provenance));
    text += '}';
  }
  return text + (first ? "]\n}\n" : "\n  ]\n}\n");
}

std::string root_html(const std::vector<std::string>& projects) {
  std::string body;
  for (const auto& project : projects)
    fmt::format_to(std::back_inserter(body), "<a href=\"{}/\">{}</a><br>\n", url_path(project), html_text(project));
  return html_page("Simple index", body);
}

std::string root_json(const std::vector<std::string>& projects) {
  Json json{{"meta", {{"api-version", k_api_version}}}, {"projects", Json::array()}};
  for (const auto& project : projects) json["projects"].push_back({{"name", project}});
  return json_text(json);
}

std::string index_json(const std::filesystem::path& output, const Scan& scan, const IndexReport& report) {
  Json json{{"schema", "sagekit.index/1"}, {"output", output.string()}};
  json["wheels"] = scan.release.wheels.size();
  json["read"] = scan.read;
  json["projects"] = report.projects;
  json["indexes"] = report.folders;
  json["pages"] = {{"written", report.written}, {"unchanged", report.unchanged}, {"removed", report.removed}};
  if (!report.variants.empty())
    json["variants"] = {{"format", k_variants_format}, {"experimental", true}, {"files", report.variants}};
  json["warnings"] = report.warnings;
  Json& refused = json["refused"] = Json::array();
  for (const auto& one : scan.refused)
    refused.push_back({{"code", one.code}, {"message", one.message}, {"where", one.where}, {"hint", one.hint}});
  return json_text(json);
}

}  // namespace sagekit
