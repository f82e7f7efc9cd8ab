#include "index/curl_client.hpp"

#include "index/curl_connection.hpp"
#include "support/file.hpp"
#include "support/format.hpp"
#include "support/try.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <random>
#include <string>
#include <system_error>

namespace sagekit {

namespace {

constexpr int k_most_redirects = 10;
// An attempt that brought this much was no failure of the whole: the count of retries starts anew.
constexpr std::uint64_t k_progress = 64 * 1024;
constexpr std::size_t k_idle_connections = 16;

// How one attempt went; `code` empty: all of it is there.
struct Outcome {
  std::string code, why;
  Url at;  ///< where the last answer came from
  bool again = false;
  double retry_after_seconds = 0;
  std::string hint = {};  ///< in place of the code's
};

std::string_view name(HttpMethod method) {
  switch (method) {
    case HttpMethod::get: return "GET";
    case HttpMethod::head: return "HEAD";
    case HttpMethod::put: return "PUT";
  }
  return "";
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

Outcome judged_status(int status, Url at) {
  const std::string why = fmt::format("the server answered {}", status);
  const bool passing = status == 408 || status == 429 || status == 500 || (status >= 502 && status <= 504);
  if (passing) return {"IDX007", why, std::move(at), true};
  if (status == 404 || status == 410) return {"IDX004", why + ", it is not there", std::move(at)};
  if (status == 407) return {"IDX005", "the proxy answered 407, it wants other credentials", std::move(at)};
  if (status == 401 || status == 403) return {"IDX005", why + ", it wants other credentials", std::move(at)};
  return {"IDX006", why, std::move(at)};
}

/// Who names the proxy of an address, and what it says, without its password.
std::string proxy_words(const Url& url, const IndexSettings& settings) {
  const auto route = route_to(url, settings);
  return fmt::format("{}: it says {}", route.proxy_of, printable_url(route.proxy));
}

Outcome judged_end(const Exchange& exchange, const AnswerReader& reader, const IndexSettings& settings, Url at) {
  switch (exchange.end) {
    case ExchangeEnd::stopped: return {"IDX016", exchange.why, std::move(at)};
    case ExchangeEnd::unreachable: return {"IDX002", exchange.why, std::move(at), true};
    case ExchangeEnd::no_handshake: return {"IDX003", exchange.why, std::move(at), true};
    case ExchangeEnd::untrusted: return {"IDX003", exchange.why, std::move(at)};
    case ExchangeEnd::proxy_refused: {
      auto hint = fmt::format("put the proxy's user and password into {}", proxy_words(at, settings));
      return {"IDX005", exchange.why, std::move(at), false, 0, std::move(hint)};
    }
    case ExchangeEnd::proxy_busy: return {"IDX007", exchange.why, std::move(at), true};
    case ExchangeEnd::no_proxy: {
      auto hint = fmt::format("check {}", proxy_words(at, settings));
      return {"IDX002", exchange.why + " to CONNECT: it is no proxy", std::move(at), false, 0, std::move(hint)};
    }
    case ExchangeEnd::not_http: return {"IDX008", exchange.why, std::move(at)};
    case ExchangeEnd::done:
      if (reader.whole()) return {"", "", std::move(at)};
      break;
    default: break;
  }
  std::string why = exchange.end == ExchangeEnd::done ? "the connection was cut" : exchange.why;
  if (reader.length())
    why += fmt::format(" after {} of {} bytes", reader.delivered(), *reader.length());
  else if (reader.delivered() > 0)
    why += fmt::format(" after {} bytes", reader.delivered());
  return {"IDX007", why, std::move(at), true};
}

std::string hint_for(const std::string& code, const std::string& host) {
  if (code == "IDX002") return "check the network, the proxy and the address";
  if (code == "IDX003") return "name the certificates of your proxy or index with --cert, or in pip's configuration";
  if (code == "IDX004") return "check the address of the index";
  if (code == "IDX005")
    return "put user and password for " + host +
           " into ~/.netrc or into the address of the index, those of a proxy into its address";
  if (code == "IDX006" || code == "IDX007") return "try again later, or name another index with --index-url";
  if (code == "IDX008" || code == "IDX009")
    return "a proxy may have answered: ask from another network or another index";
  return {};
}

/// Why nothing can be trusted by it; "" = it may serve. libcurl says only that it could not be set.
std::string why_no_certificates(const std::filesystem::path& bundle) {
  if (::access(bundle.c_str(), R_OK) != 0) return std::generic_category().message(errno);
  const auto text = read_file(bundle);  // of a folder libcurl takes the files that it looks for
  return text && text->find("-----BEGIN ") == std::string::npos ? "it is no PEM file" : "";
}

class CurlClient final : public HttpClient {
 public:
  CurlClient(const CurlLibrary& curl, IndexSettings settings, const HttpPauses& pauses)
      : m_curl(curl), m_settings(std::move(settings)), m_pauses(pauses) {}

  Result<HttpResponse> get(const HttpRequest& request, std::stop_token stop) override { return send(request, stop); }
  Result<HttpResponse> send(const HttpRequest& request, std::stop_token stop) override;

 private:
  Outcome attempt(const Url& start, const HttpRequest& request, AnswerReader& reader, std::stop_token stop);
  Exchange ask(const Url& url, const std::vector<std::string>& lines, const HttpRequest& request, AnswerReader& reader,
               std::stop_token stop);
  std::chrono::milliseconds pause(int failures, double retry_after_seconds) const;

  const CurlLibrary& m_curl;
  const IndexSettings m_settings;
  const HttpPauses m_pauses;
  std::mutex m_mutex;
  std::vector<std::unique_ptr<CurlConnection>> m_idle;
};

Exchange CurlClient::ask(const Url& url, const std::vector<std::string>& lines, const HttpRequest& request,
                         AnswerReader& reader, std::stop_token stop) {
  std::unique_ptr<CurlConnection> connection;
  {
    const std::lock_guard lock(m_mutex);
    if (!m_idle.empty()) {
      connection = std::move(m_idle.back());
      m_idle.pop_back();
    }
  }
  if (!connection) connection = std::make_unique<CurlConnection>(m_curl);
  if (!connection->usable()) return {ExchangeEnd::unreachable, "libcurl gives no handle"};
  Exchange exchange =
      connection->ask(url, route_to(url, m_settings), m_settings, lines, request, reader, std::move(stop));
  const std::lock_guard lock(m_mutex);
  if (m_idle.size() < k_idle_connections) m_idle.push_back(std::move(connection));
  return exchange;
}

Outcome CurlClient::attempt(const Url& start, const HttpRequest& request, AnswerReader& reader, std::stop_token stop) {
  Url url = start;
  for (int redirects = 0;; ++redirects) {
    auto lines = reader.begin_attempt();
    lines.push_back("Accept: " + (request.accept.empty() ? "*/*" : request.accept));
    lines.emplace_back("Accept-Encoding: identity");
    if (!request.token.empty() && url.same_origin(start)) lines.push_back("Authorization: Bearer " + request.token);
    const Exchange exchange = ask(url, lines, request, reader, stop);
    log_line(m_settings.log, LogLevel::info, [&] {
      const int answer = reader.head().status;
      return fmt::format("{} {}{}: {}, {} bytes so far", name(request.method), printable_url(url.without_user()),
                         request.range        ? fmt::format(" from {}", request.range->offset)
                         : request.suffix > 0 ? fmt::format(" last {} bytes", request.suffix)
                                              : "",
                         answer == 0 ? "no answer" : std::to_string(answer), reader.delivered());
    });
    if (exchange.end == ExchangeEnd::stopped) return {"IDX016", exchange.why, url};
    if (reader.refusal()) return {reader.refusal()->code, reader.refusal()->why, url};
    const int status = reader.head().status;
    const bool reads = request.method == HttpMethod::get;
    if (status == 0 || (reads && reader.success())) return judged_end(exchange, reader, m_settings, url);
    if (!reads && status >= 200 && status < 300) return {"", "", url};
    if (!is_redirect(status)) {
      Outcome outcome = judged_status(status, url);
      outcome.retry_after_seconds = exchange.retry_after_seconds;
      return outcome;
    }
    if (request.method == HttpMethod::put) return {"IDX008", "the server sends elsewhere what is handed to it", url};
    const auto next = redirected(url, reader.head().location);
    if (!next) return {"IDX008", next.error(), url};
    if (redirects == k_most_redirects) return {"IDX008", fmt::format("more than {} redirects", k_most_redirects), url};
    url = *next;
  }
}

std::chrono::milliseconds CurlClient::pause(int failures, double retry_after_seconds) const {
  const auto doubled = m_pauses.first * (1 << std::min(failures - 1, 16));
  std::random_device device;
  const auto jittered = std::min(doubled, m_pauses.longest) * std::uniform_int_distribution(50, 150)(device) / 100;
  const auto limit = static_cast<double>(m_pauses.longest_asked.count());
  const std::chrono::milliseconds asked(static_cast<std::int64_t>(std::clamp(retry_after_seconds * 1000, 0.0, limit)));
  return std::max(jittered, asked);
}

Result<HttpResponse> CurlClient::send(const HttpRequest& request, std::stop_token stop) {
  const auto url = parse_url(request.url);
  if (!url)
    // With an @ in it nobody knows where a password ends.
    return fail(
        ErrorKind::usage, "IDX017",
        (request.url.find('@') == std::string::npos ? "\"" + printable_url(request.url) + "\"" : "what was given") +
            " is no http or https address",
        "write it as https://host/path");
  if (request.range &&
      (request.range->length == 0 || request.range->offset + request.range->length < request.range->length))
    return fail(ErrorKind::bug, "IDX017", "an empty range of " + printable_url(request.url) + " was asked for");
  AnswerReader reader(request);
  int failures = 0, asked = 0;
  std::uint64_t before = 0;
  for (;;) {
    const Outcome outcome = attempt(*url, request, reader, stop);
    ++asked;
    if (outcome.code.empty()) {
      HttpResponse response = reader.take();
      response.status = reader.head().status;
      response.url = printable_url(outcome.at.without_user());
      return response;
    }
    failures = reader.delivered() >= before + k_progress ? 1 : failures + 1;
    before = reader.delivered();
    if (outcome.again && failures <= m_settings.retries) {
      std::mutex mutex;
      std::condition_variable_any never;
      std::unique_lock lock(mutex);
      never.wait_for(lock, stop, pause(failures, outcome.retry_after_seconds), [] { return false; });
      if (!stop.stop_requested()) continue;
    }
    const std::string name = printable_url(request.url), at = printable_url(outcome.at.without_user());
    const bool stopped = stop.stop_requested();
    const auto& bundle = m_settings.ca_bundle;
    if (const auto why = outcome.code == "IDX003" && !bundle.empty() ? why_no_certificates(bundle) : ""; !why.empty())
      return fail(
          ErrorKind::usage, "IDX003",
          fmt::format("cannot read {}: the certificates to trust, {}, cannot be read: {}", name, bundle.string(), why),
          "name a PEM file that is there with --cert, or in pip's configuration", bundle.string());
    return fail(
        stopped ? ErrorKind::interrupted : ErrorKind::failed, stopped ? "IDX016" : outcome.code,
        fmt::format("cannot {} {}{}: {}{}", request.method == HttpMethod::put ? "write" : "read", name,
                    outcome.at.same_origin(*url) ? "" : " (at " + at + ")", stopped ? "it was stopped" : outcome.why,
                    asked > 1 && !stopped ? fmt::format(" (asked {} times)", asked) : ""),
        stopped                ? ""
        : outcome.hint.empty() ? hint_for(outcome.code, outcome.at.host)
                               : outcome.hint);
  }
}

}  // namespace

Result<std::unique_ptr<HttpClient>> make_http_client(const IndexSettings& settings, const HttpPauses& pauses) {
  TRY_ASSIGN(const CurlLibrary* const curl, curl_library());
  return std::make_unique<CurlClient>(*curl, settings, pauses);
}

}  // namespace sagekit
