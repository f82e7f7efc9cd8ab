#pragma once
// http and https addresses taken apart, put together and resolved (RFC 3986). Anything else is no address here.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sagekit {

struct Url {
  std::string scheme;  ///< "http" or "https"
  std::string user, password;
  bool has_user = false;   ///< "https://@host" names an empty one
  std::string host;        ///< lower case; an IPv6 one in its brackets
  std::uint16_t port = 0;  ///< never 0: 80 and 443 where the address names none
  std::string target;      ///< "/path?query", percent-encoded: no blank, control or non-ASCII byte; no fragment

  /// With neither user nor password: what goes to the library.
  std::string without_user() const;
  bool same_origin(const Url& other) const {
    return scheme == other.scheme && host == other.host && port == other.port;
  }
};

/// Nothing when `text` is no http or https address with a host.
std::optional<Url> parse_url(std::string_view text);

/// What a link says on a page: absolute, without fragment, user and password kept where the link has them. Nothing when
/// the link leads to no http or https address. A link without host carries none of the base's user and password.
std::optional<std::string> resolve_url(const std::string& base, std::string_view link);

/// "%2B" to "+"; a percent sign that starts no escape stays.
std::string percent_decoded(std::string_view text);

}  // namespace sagekit
