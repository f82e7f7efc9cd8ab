#pragma once
// What a client's headers ask for, by RFC 9110; of foreign text, bounded.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// Which part of `size` bytes a Range header wants (section 14.1.2).
struct AskedRange {
  enum class Kind { whole, part, beyond } kind = Kind::whole;  ///< `beyond`: 416, the resource has no such part
  std::uint64_t first = 0, length = 0;
};
/// One range of bytes; several, another unit and nonsense mean the whole, as the specification allows.
AskedRange asked_range(std::string_view header, std::uint64_t size);

/// Is `etag` one of an If-None-Match or If-Range header's?
bool lists_etag(std::string_view header, std::string_view etag);

/// Would a client with this Accept header rather have the page as JSON (PEP 691)? Without a header: no.
bool prefers_json(std::string_view accept);

/// The names that a decoded path goes through ("/simple/a/" -> "simple", "a"); nothing when one of them must not be
/// looked at: "..", ".", hidden names, an empty one, a NUL or a backslash.
std::optional<std::vector<std::string>> safe_segments(std::string_view path);

/// Is a Host header this machine's own name for itself? A page elsewhere whose name was made to lead here is not.
bool names_loopback(std::string_view host);

}  // namespace sagekit
