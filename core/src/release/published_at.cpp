#include "index/curl_client.hpp"
#include "index/package_index.hpp"
#include "index/remote_file.hpp"
#include "index/remote_wheel.hpp"
#include "inspect/provenance.hpp"
#include "release/arch_match.hpp"
#include "release/origin.hpp"
#include "support/format.hpp"
#include "support/parallel.hpp"
#include "support/try.hpp"

#include <sagekit/coverage.hpp>

#include <algorithm>
#include <atomic>

namespace sagekit {

namespace {

std::string public_part(const std::string& version) { return version.substr(0, version.find('+')); }

/// Does its name leave open whether it is the cell's?
bool leaves_open(const ReleasedWheel& wheel, const Cell& cell) {
  if (wheel.yanked || public_part(wheel.version) != public_part(cell.version) || !may_be_for(wheel, cell)) return false;
  const auto& origin = wheel.origin;
  return origin.commit.empty() || compare_arches(origin, cell).match == ArchMatch::unsaid || !is_for(wheel, cell);
}

/// The wheel's own record, by byte ranges. A server that knows none would send all of it.
Result<WheelOrigin> record_of(HttpClient& http, const IndexFile& file, const WheelNameReader& reader) {
  TRY_ASSIGN(auto remote, open_remote_file(http, file.url, file.size, {}));
  TRY_ASSIGN(auto wheel, RemoteWheel::open(std::move(remote)));
  const auto path = fmt::format("{}/{}", wheel.dist_info(), k_provenance_file);
  if (wheel.find(path) == nullptr) return WheelOrigin();
  TRY_ASSIGN(const auto text, wheel.read(path));
  TRY_ASSIGN(auto record, read_provenance(text));
  TRY_ASSIGN(const auto name, parse_wheel_name(file.name));
  return origin_of(name, provenance_of(std::move(record), reader.read(name), {}), {});
}

void add_records(Release& release, const std::vector<const IndexFile*>& files, const Plan& plan, HttpClient& http,
                 const WheelNameReader& reader) {
  constexpr unsigned k_at_once = 8;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < files.size(); ++i)
    if (std::ranges::any_of(plan.cells, [&](const Cell& cell) { return leaves_open(release.wheels[i], cell); }))
      open.push_back(i);
  std::atomic<bool> in_vain = false;
  run_in_parallel(open.size(), k_at_once, [&](std::size_t at) {
    if (in_vain) return;
    auto record = record_of(http, *files[open[at]], reader);
    if (record && !record->commit.empty())
      release.wheels[open[at]].origin = std::move(*record);
    else if (!record && record.error().code.starts_with("IDX00") && record.error().code != "IDX004")
      in_vain = true;  // a server that fails, or knows no ranges, is not asked a thousand times
  });
}

}  // namespace

Result<Release> published_at(const std::string& url, std::string_view project, const IndexSettings& given,
                             std::span<const NamingScheme> schemes, const Plan* plan) {
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
  std::vector<const IndexFile*> listed;
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
    wheel.origin = origin_of(*name, provenance_of({}, reader.read(*name), {}), {});
    release.wheels.push_back(std::move(wheel));
    listed.push_back(&file);
  }
  if (plan != nullptr) add_records(release, listed, *plan, *http, reader);
  std::ranges::sort(release.wheels, {}, &ReleasedWheel::file);
  return release;
}

}  // namespace sagekit
