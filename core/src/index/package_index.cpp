#include "index/package_index.hpp"

#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>

#include <set>

namespace sagekit {

namespace {

// JSON first: it tells sizes.
constexpr const char* k_accept =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

std::string page_of(std::string index, const std::string& project) {
  while (index.ends_with('/')) index.pop_back();
  return index + "/" + project + "/";
}

}  // namespace

Result<std::vector<IndexFile>> find_project(HttpClient& http, const IndexSettings& settings, std::string_view project,
                                            std::stop_token stop) {
  std::vector<std::string> indexes;
  if (!settings.index_url.empty()) indexes.push_back(settings.index_url);
  indexes.insert(indexes.end(), settings.extra_index_urls.begin(), settings.extra_index_urls.end());
  if (indexes.empty())
    return fail(ErrorKind::usage, "IDX014", "no package index is configured, and no pip here knows one",
                "name one with --index-url, or in pip's configuration (index-url)");
  const std::string name = normalized_project(project);
  if (name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != name.npos)
    return fail(ErrorKind::usage, "IDX013", "\"" + std::string(project) + "\" is no name of a project");
  std::vector<IndexFile> files;
  std::set<std::string> seen;
  std::vector<std::string> without;
  for (const auto& index : indexes) {
    HttpRequest request;
    request.url = page_of(index, name);
    request.accept = k_accept;
    const auto page = http.get(request, stop);
    if (!page && page.error().code == "IDX004") {
      without.push_back(printable_url(index));
      continue;
    }
    if (!page) return std::unexpected(page.error());
    TRY_ASSIGN(auto found, read_project_page(page->body, page->content_type, page->url));
    for (IndexFile& file : found) {
      if (!seen.insert(file.name).second) continue;
      file.index = printable_url(index);
      files.push_back(std::move(file));
    }
  }
  if (without.size() == indexes.size())
    return fail(ErrorKind::no_match, "IDX013", "there is no project " + name + " on " + join(without, ", "),
                "name the index that has it with --index-url or --extra-index-url");
  return files;
}

}  // namespace sagekit
