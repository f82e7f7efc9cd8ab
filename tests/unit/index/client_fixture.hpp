#pragma once
// A client for the tests' own server: short pauses, short patience, no environment.

#include "index/curl_client.hpp"
#include "support/http_server.hpp"

#include <doctest/doctest.h>

namespace sagekit::test {

inline IndexSettings quick_settings() {
  IndexSettings settings;
  settings.timeout_seconds = 5;
  settings.retries = 3;
  return settings;
}

inline std::unique_ptr<HttpClient> quick_client(const IndexSettings& settings = quick_settings()) {
  using std::chrono::milliseconds;
  auto client = make_http_client(settings, {milliseconds(1), milliseconds(5), milliseconds(300)});
  REQUIRE_MESSAGE(client, (client ? "" : client.error().message));
  return std::move(*client);
}

inline Result<HttpResponse> get(HttpClient& client, const std::string& url) {
  HttpRequest request;
  request.url = url;
  return client.get(request);
}

/// So much text that its places can be told apart.
inline std::string sample_content(std::size_t size) {
  std::string content;
  while (content.size() < size) content += std::to_string(content.size()) + " ";
  content.resize(size);
  return content;
}

}  // namespace sagekit::test
