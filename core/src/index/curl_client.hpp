#pragma once
// The HttpClient that asks real servers.

#include "index/http.hpp"

#include <sagekit/index.hpp>

#include <chrono>

namespace sagekit {

/// How long to wait before asking again: first, doubled each time, with jitter.
struct HttpPauses {
  std::chrono::milliseconds first{250}, longest{8'000};
  std::chrono::milliseconds longest_asked{30'000};  ///< of what a server's Retry-After asks for
};

/// IDX001 (machine) when libcurl is not there.
Result<std::unique_ptr<HttpClient>> make_http_client(const IndexSettings& settings, const HttpPauses& pauses = {});

}  // namespace sagekit
