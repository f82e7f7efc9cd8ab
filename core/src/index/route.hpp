#pragma once
// How one address is reached: through which proxy, with whose credentials, with which trust. Decided anew for every
// address, redirects too, so nothing meant for one host goes to another.

#include "index/url.hpp"

#include <sagekit/index.hpp>

#include <expected>
#include <filesystem>
#include <string>

namespace sagekit {

struct Route {
  std::string proxy;     ///< "" = none
  std::string proxy_of;  ///< who says so: "HTTPS_PROXY", "pip's proxy setting"
  std::string no_proxy;  ///< hosts that are reached without it, comma-separated
  bool has_user = false;
  std::string user, password;   ///< of the address itself, or of the index on the same scheme, host and port
  std::filesystem::path netrc;  ///< asked when there is no user; empty = none
  bool verify = true;           ///< false: the host is a trusted one, its certificate is not checked
};

/// Proxies by libcurl's rules: `http_proxy` in lower case only, the others in either, `all_proxy` last. An explicit
/// proxy is for every host.
Route route_to(const Url& url, const IndexSettings& settings);

/// Where a redirect from `from` leads; or in words why it is not followed: no http address, or from https to http. The
/// user of `from` stays on its scheme, host and port; one that the server names is ignored.
std::expected<Url, std::string> redirected(const Url& from, const std::string& location);

}  // namespace sagekit
