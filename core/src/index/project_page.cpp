#include "index/html_links.hpp"
#include "index/package_index.hpp"
#include "index/url.hpp"
#include "pypa/requirement_reader.hpp"
#include "support/format.hpp"
#include "support/json.hpp"
#include "support/sha256.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <algorithm>
#include <array>

namespace sagekit {

namespace {

constexpr std::size_t k_largest_page = std::size_t{64} << 20;
constexpr std::size_t k_most_files = 200'000;
constexpr int k_deepest = 32;

std::unexpected<Error> no_page(std::string_view base, std::string_view why) {
  return fail(ErrorKind::failed, "IDX011",
              fmt::format("{} is no page of a package index: {}", printable_url(std::string(base)), why),
              "a proxy or a login page may have answered: open the address in a browser, or name another index with "
              "--index-url");
}

std::unexpected<Error> bad_json(std::string_view base, std::string_view why) {
  return fail(ErrorKind::failed, "IDX012",
              fmt::format("the JSON of {} is not what PEP 691 says: {}", printable_url(std::string(base)), why),
              "name another index with --index-url");
}

bool is_file_name(std::string_view name) {
  constexpr std::array<std::string_view, 8> k_endings = {".whl",     ".tar.gz", ".tgz", ".zip",
                                                         ".tar.bz2", ".tar.xz", ".egg", ".exe"};
  if (name.starts_with('.') || name.size() > 255) return false;
  if (std::ranges::any_of(name, [](unsigned char c) { return c < ' ' || c == 0x7f || c == '/' || c == '\\'; }))
    return false;
  return std::ranges::any_of(
      k_endings, [&](std::string_view ending) { return name.size() > ending.size() && name.ends_with(ending); });
}

// Lower case; "" for what is no sha256.
std::string hash_of(std::string_view text) {
  std::string hash = lower(text);
  return is_sha256(hash) ? hash : std::string{};
}

/// What the page holds a file to: any of those that pip checks and nobody can forge. Of md5 and sha1 nothing is made.
void hold(IndexFile& file, std::string_view kind, std::string_view value) {
  constexpr std::array<std::pair<std::string_view, std::size_t>, 3> k_digits = {
      {{"sha256", 64}, {"sha384", 96}, {"sha512", 128}}};
  const auto* known = std::ranges::find(k_digits, kind, &std::pair<std::string_view, std::size_t>::first);
  if (known == k_digits.end() || value.empty()) return;
  const std::string hash = lower(value);
  if (hash.size() != known->second || hash.find_first_not_of("0123456789abcdef") != std::string::npos)
    file.hash_fault = fmt::format("\"{}={}\" is no {}, which has {} digits of 0-9 and a-f", kind, value.substr(0, 128),
                                  kind, known->second);
  else if (kind == "sha256")
    file.sha256 = hash;
  else
    file.other_hash = fmt::format("{}={}", kind, hash);
}

void hold_to_fragment(IndexFile& file, std::string_view href) {
  const std::size_t hash = href.find('#');
  if (hash == href.npos) return;
  for (const std::string_view part : split(href.substr(hash + 1), '&'))
    if (const auto equals = part.find('='); equals != part.npos)
      hold(file, part.substr(0, equals), part.substr(equals + 1));
}

// Nothing when it leads to no http address, or from an https page to an http one, which pip does not take either.
std::optional<std::string> file_url(const std::string& base, const std::string& href) {
  auto url = resolve_url(base, href);
  if (url && parse_url(base)->scheme == "https" && parse_url(*url)->scheme == "http") return std::nullopt;
  return url;
}

/// "sha256=<hex>", or "true" for a METADATA without a hash that is known here.
std::string metadata_hash(const std::string& text) {
  if (text.empty() || text == "false") return {};
  const std::string hash = text.starts_with("sha256=") ? hash_of(std::string_view(text).substr(7)) : "";
  return hash.empty() ? "true" : hash;
}

Result<std::vector<IndexFile>> read_html(std::string_view body, const std::string& page) {
  const HtmlLinks html = read_html_links(body);
  if (!html.repository_version.empty() && !html.repository_version.starts_with("1."))
    return no_page(page, "it is of version \"" + html.repository_version.substr(0, 20) + "\", 1.x is known");
  const std::string base = resolve_url(page, html.base).value_or(page);
  std::vector<IndexFile> files;
  for (const HtmlLink& link : html.links) {
    IndexFile file;
    const auto url = file_url(base, link.href);
    if (!url) continue;
    const std::string path = url->substr(0, url->find('?'));
    file.name = percent_decoded(after_last(path, '/'));
    if (!is_file_name(file.name)) continue;
    file.url = *url;
    hold_to_fragment(file, link.href);
    file.yanked = link.yanked;
    file.requires_python = link.requires_python;
    file.core_metadata = metadata_hash(link.core_metadata);
    files.push_back(std::move(file));
    if (files.size() > k_most_files) return no_page(page, "it names too many files");
  }
  const bool marked = !html.repository_version.empty() || body.find("<title>Links for ") != body.npos;
  if (files.empty() && !marked) return no_page(page, "it names no file");
  return files;
}

Result<IndexFile> read_json_file(const Json& entry, const std::string& page) {
  if (!entry.is_object()) return bad_json(page, "a file is no object");
  IndexFile file;
  file.name = text_at(entry, "filename");
  const auto url = file_url(page, text_at(entry, "url"));
  if (file.name.empty() || !entry.contains("url")) return bad_json(page, "a file has no name or no url");
  if (!url || !is_file_name(file.name)) return IndexFile{};
  file.url = *url;
  file.requires_python = text_at(entry, "requires-python");
  if (const auto hashes = entry.find("hashes"); hashes != entry.end() && hashes->is_object())
    for (const auto& [kind, hash] : hashes->items())
      if (hash.is_string()) hold(file, kind, hash.get<std::string>());
  for (const char* key : {"core-metadata", "dist-info-metadata"}) {  // PEP 714: the newer name first
    const auto about = entry.find(key);
    if (about == entry.end() || !file.core_metadata.empty()) continue;
    if (about->is_object())
      file.core_metadata = metadata_hash("sha256=" + text_at(*about, "sha256"));
    else if (about->is_boolean() && about->get<bool>())
      file.core_metadata = "true";
  }
  if (const auto size = entry.find("size"); size != entry.end() && size->is_number_unsigned())
    file.size = size->get<std::uint64_t>();
  if (const auto yanked = entry.find("yanked"); yanked != entry.end())
    file.yanked = yanked->is_string() || (yanked->is_boolean() && yanked->get<bool>());
  return file;
}

Result<std::vector<IndexFile>> read_json(std::string_view body, const std::string& page) {
  bool deep = false;
  const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
    deep |= depth > k_deepest;
    return !deep;
  };
  const Json root = Json::parse(body, shallow, false);
  if (deep || root.is_discarded() || !root.is_object()) return bad_json(page, "it cannot be parsed as an object");
  const auto meta = root.find("meta");
  const std::string version = meta != root.end() && meta->is_object() ? text_at(*meta, "api-version") : "";
  if (!version.starts_with("1."))
    return bad_json(page, "its api-version is \"" + version.substr(0, 20) + "\", 1.x is known");
  const auto entries = root.find("files");
  if (entries == root.end() || !entries->is_array()) return bad_json(page, "it has no list of files");
  if (entries->size() > k_most_files) return bad_json(page, "it names too many files");
  std::vector<IndexFile> files;
  for (const Json& entry : *entries) {
    TRY_ASSIGN(IndexFile file, read_json_file(entry, page));
    if (!file.url.empty()) files.push_back(std::move(file));
  }
  return files;
}

/// The page's own folder: links of a root lead to the folders in it.
std::string folder_of(const std::string& page) {
  const auto path = page.substr(0, page.find_first_of("?#"));
  return path.substr(0, path.rfind('/') + 1);
}

/// Nothing where a link leads elsewhere: of pages that do not say what they are, all must be a root's.
std::vector<std::string> linked_projects(std::string_view body, const std::string& page) {
  const HtmlLinks html = read_html_links(body);
  const std::string base = resolve_url(page, html.base).value_or(page);
  std::vector<std::string> names;
  for (const HtmlLink& link : html.links) {
    const std::string url = resolve_url(base, link.href).value_or("");
    const auto above = base.ends_with('/') || !url.starts_with(base + "/") ? folder_of(base) : base + "/";
    const auto name = url.starts_with(above) && url.ends_with('/')
                          ? percent_decoded(std::string_view(url).substr(above.size(), url.size() - above.size() - 1))
                          : std::string();
    if (is_project_name(name))
      names.push_back(name);
    else if (html.repository_version.empty())
      return {};
  }
  return names;
}

}  // namespace

std::vector<std::string> listed_projects(std::string_view body, std::string_view page) {
  std::vector<std::string> names;
  if (body.size() > k_largest_page) return names;
  const std::size_t start = body.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (start == body.npos) return names;
  if (body[start] != '{') return linked_projects(body, std::string(page));
  const Json root = parse_json(body.substr(start));
  if (const auto projects = root.is_object() ? root.find("projects") : root.end();
      projects != root.end() && projects->is_array())
    for (const Json& project : *projects)
      if (const auto name = project.is_object() ? text_at(project, "name") : ""; is_project_name(name))
        names.push_back(name);
  return names;
}

Result<std::vector<IndexFile>> read_project_page(std::string_view body, std::string_view content_type,
                                                 std::string_view base) {
  if (body.size() > k_largest_page) return no_page(base, "it has more than 64 MiB");
  if (body.starts_with("\xef\xbb\xbf")) body.remove_prefix(3);
  const std::string type = lower(content_type), page(base);
  const std::size_t start = body.find_first_not_of(" \t\r\n");
  const char first = start == body.npos ? '\0' : body[start];
  if (type.find("json") != type.npos) return read_json(body, page);
  if (type.find("html") != type.npos || first == '<') return read_html(body, page);
  if (first == '{') return read_json(body, page);
  return no_page(base, "it is neither HTML nor JSON");
}

}  // namespace sagekit
