#include "index/curl_client.hpp"
#include "index/package_index.hpp"
#include "release/origin.hpp"
#include "support/try.hpp"

#include <sagekit/coverage.hpp>

#include <algorithm>

namespace sagekit {

Result<Release> published_at(const std::string& url, std::string_view project, const IndexSettings& given,
                             std::span<const NamingScheme> schemes) {
  IndexSettings settings = given;
  settings.index_url = url;
  settings.extra_index_urls.clear();
  TRY_ASSIGN(const auto http, make_http_client(settings));
  if (url.ends_with(".json")) {
    HttpRequest request;
    request.url = url;
    TRY_ASSIGN(const auto answer, http->get(request));
    return read_release(answer.body, printable_url(url));
  }
  Release release;
  const auto files = find_project(*http, settings, project);
  if (!files && files.error().code == "IDX013") return release;
  if (!files) return std::unexpected(files.error());
  TRY_ASSIGN(const auto reader, WheelNameReader::make(naming_schemes(schemes)));
  for (const auto& file : *files) {
    const auto name = parse_wheel_name(file.name);
    if (!name) continue;  // source distributions
    ReleasedWheel wheel;
    wheel.file = file.name;
    wheel.sha256 = file.sha256;
    wheel.size_bytes = file.size;
    wheel.project = normalized_project(name->distribution);
    wheel.version = name->version;
    wheel.requires_python = file.requires_python;
    if (file.yanked) wheel.yanked.emplace();
    wheel.origin = origin_of_name(*name, reader);
    release.wheels.push_back(std::move(wheel));
  }
  std::ranges::sort(release.wheels, {}, &ReleasedWheel::file);
  return release;
}

}  // namespace sagekit
