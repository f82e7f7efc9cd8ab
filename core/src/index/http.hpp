#pragma once
// Reading over HTTP, and handing over a file, as an interface: what asks (pages, wheels by range) never knows what
// answers (libcurl, or a test).

#include <sagekit/error.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace sagekit {

/// Bytes [offset, offset + length) of a resource (RFC 9110 section 14).
struct HttpRange {
  std::uint64_t offset = 0, length = 0;
};

struct HttpResponse;

enum class HttpMethod { get, head, put };

struct HttpRequest {
  std::string url;
  HttpMethod method = HttpMethod::get;
  std::string_view content;        ///< of a put; must stay where it is until the answer is there
  std::string token;               ///< "Authorization: Bearer", for the address's own scheme, host and port; "" = none
  std::string accept;              ///< Accept header; "" = anything
  std::optional<HttpRange> range;  ///< asks for a part
  std::uint64_t suffix = 0;        ///< or for the last so many bytes; 0 = not
  /// More than this is refused: a page or a range that grows without end fills no memory. With `sink` it bounds that.
  std::uint64_t max_bytes = std::uint64_t{64} << 20;
  /// Content goes here piece by piece instead of into `body`; false stops the transfer. When the connection is cut and
  /// the server knows ranges the rest is asked for, so pieces come in order and once each.
  std::function<bool(std::string_view)> sink;
  /// Called before the first piece with all of the answer but its content; false stops the transfer. Again when an
  /// answer broke off without a piece.
  std::function<bool(const HttpResponse&)> on_answer;
};

struct HttpResponse {
  int status = 0;            ///< of get 200 or 206, of the others any 2xx; every other status is an Error
  std::string url;           ///< where it came from in the end, credentials removed
  std::string content_type;  ///< lower case, without parameters
  std::uint64_t offset = 0;  ///< first byte of `body` in the resource: 0 unless 206
  std::uint64_t total = 0;   ///< size of the whole resource; 0 = the server does not say
  std::string body;
  std::string etag;  ///< as the server wrote it; "" = none
};

/// Thread-safe. Retries what may pass (408, 429 with Retry-After, 5xx, cut and stalled connections) with growing
/// pauses; sends credentials to the host they are for and to no other; follows at most ten redirects, never from https
/// to http. A 206 whose Content-Range is not what was asked, and a body of another length than announced, are errors.
/// Errors: kind failed, IDX001 (machine) to IDX009, IDX016 (interrupted), IDX017 (usage: no address); their texts never
/// hold credentials or query strings.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  virtual Result<HttpResponse> get(const HttpRequest& request, std::stop_token stop = {}) = 0;
  /// By any method. A put is not sent on where a server redirects it: that is an error (IDX008).
  virtual Result<HttpResponse> send(const HttpRequest&, std::stop_token = {}) {
    return fail(ErrorKind::bug, "IDX006", "this client only reads");
  }
};

}  // namespace sagekit
