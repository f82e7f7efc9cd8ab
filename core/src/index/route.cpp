#include "index/route.hpp"

#include "support/text.hpp"

#include <algorithm>
#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>

namespace sagekit {

namespace {

/// The first variable that says something, and what.
std::pair<std::string, std::string> first_of(const std::map<std::string, std::string>& environment,
                                             std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto found = environment.find(name); found != environment.end() && !found->second.empty()) return *found;
  return {};
}

// As pip: the index whose path the address lies below, else any on the same host.
void take_index_user(const Url& url, const IndexSettings& settings, Route& route) {
  std::vector<std::string> indexes{settings.index_url};
  indexes.insert(indexes.end(), settings.extra_index_urls.begin(), settings.extra_index_urls.end());
  std::size_t best = 0;
  for (const auto& text : indexes) {
    const auto index = parse_url(text);
    if (!index || !index->has_user || !index->same_origin(url)) continue;
    const std::size_t fit = url.target.starts_with(index->target) ? index->target.size() + 1 : 1;
    if (fit <= best) continue;
    best = fit;
    route.has_user = true;
    route.user = index->user;
    route.password = index->password;
  }
}

}  // namespace

Route route_to(const Url& url, const IndexSettings& settings) {
  Route route;
  if (!settings.proxy.empty()) {
    route.proxy = settings.proxy;
    route.proxy_of = "pip's proxy setting";
  } else {
    const auto& environment = settings.environment;
    std::tie(route.proxy_of, route.proxy) =
        url.scheme == "https" ? first_of(environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
                              : first_of(environment, {"http_proxy", "all_proxy", "ALL_PROXY"});
    route.no_proxy = first_of(environment, {"no_proxy", "NO_PROXY"}).second;
  }
  if (url.has_user) {
    route.has_user = true;
    route.user = url.user;
    route.password = url.password;
  } else {
    take_index_user(url, settings, route);
  }
  if (!route.has_user) route.netrc = settings.netrc;
  const std::string with_port = url.host + ":" + std::to_string(url.port);
  route.verify = std::ranges::none_of(settings.trusted_hosts, [&](const std::string& trusted) {
    return lower(trusted) == url.host || lower(trusted) == with_port;
  });
  return route;
}

std::expected<Url, std::string> redirected(const Url& from, const std::string& location) {
  const auto target = location.empty() ? std::nullopt : resolve_url(from.without_user(), location);
  auto next = target ? parse_url(*target) : std::nullopt;
  if (!next)
    return std::unexpected(location.empty() ? "the server sends elsewhere without saying where"
                                            : "the server sends on to what is no http address, which is not followed");
  if (from.scheme == "https" && next->scheme == "http")
    return std::unexpected("the server sends on from https to http, which is not followed");
  const bool same = next->same_origin(from);
  next->has_user = same && from.has_user;
  next->user = same ? from.user : "";
  next->password = same ? from.password : "";
  return *std::move(next);
}

}  // namespace sagekit
