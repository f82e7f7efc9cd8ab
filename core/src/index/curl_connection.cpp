#include "index/curl_connection.hpp"

#include "index/system_certificates.hpp"
#include "support/format.hpp"
#include "support/text.hpp"

#include <sagekit/version.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <mutex>

namespace sagekit {

namespace {

constexpr std::string_view k_fields[] = {"location", "content-type", "content-range", "content-encoding", "etag"};

std::string* field(AnswerHead& head, std::string_view name) {
  std::string* const places[] = {&head.location, &head.content_type, &head.content_range, &head.content_encoding,
                                 &head.etag};
  const auto found = std::ranges::find(k_fields, name);
  return found == std::end(k_fields) ? nullptr : places[found - std::begin(k_fields)];
}

/// A libcurl that is built for any system knows no place of certificates (the package of sagekit links one in).
std::filesystem::path certificates_unknown_to(const curl_version_info_data& curl) {
  const bool says = curl.age >= CURLVERSION_SEVENTH;
  return says && curl.cainfo == nullptr && curl.capath == nullptr ? system_certificates() : std::filesystem::path{};
}

}  // namespace

CurlConnection::CurlConnection(const CurlLibrary& curl)
    : m_curl(curl),
      m_multi(curl.multi_init(), CloseMulti{&curl}),
      m_easy(curl.easy_init(), Close{&curl}),
      m_headers(nullptr, FreeList{&curl}) {}

template <class Action>
std::size_t CurlConnection::guarded(std::size_t bytes, Action action) {
  try {
    const bool go_on = !m_stop.stop_requested() && action();
    m_last_sign = Clock::now();  // a slow disk is no slow server
    return go_on ? bytes : 0;
  } catch (...) {
    m_exception = std::current_exception();
    return 0;
  }
}

std::size_t CurlConnection::header_callback(char* data, std::size_t size, std::size_t count, void* self) {
  auto& connection = *static_cast<CurlConnection*>(self);
  return connection.guarded(size * count, [&] {
    const std::string_view line(data, size * count);
    if (!trim(line).empty()) {
      connection.on_header_line(line);
      return true;
    }
    // 1xx announces; what follows the content (trailers) says nothing that counts.
    const bool counts = connection.m_head.status >= 200 && connection.m_reader->head().status == 0;
    return !counts || connection.m_reader->on_head(connection.m_head);
  });
}

std::size_t CurlConnection::body_callback(char* data, std::size_t size, std::size_t count, void* self) {
  auto& connection = *static_cast<CurlConnection*>(self);
  return connection.guarded(size * count,
                            [&] { return connection.m_reader->on_body(std::string_view(data, size * count)); });
}

std::size_t CurlConnection::content_callback(char* data, std::size_t size, std::size_t count, void* self) {
  auto& connection = *static_cast<CurlConnection*>(self);
  if (connection.m_stop.stop_requested()) return CURL_READFUNC_ABORT;
  connection.m_last_sign = Clock::now();
  const auto piece = connection.m_content.substr(connection.m_sent, size * count);
  piece.copy(data, piece.size());
  connection.m_sent += piece.size();
  return piece.size();
}

/// A connection that was kept open and has died is asked for again, from the beginning.
int CurlConnection::seek_callback(void* self, curl_off_t offset, int origin) {
  auto& connection = *static_cast<CurlConnection*>(self);
  if (origin != SEEK_SET || offset < 0 || static_cast<std::size_t>(offset) > connection.m_content.size())
    return CURL_SEEKFUNC_FAIL;
  connection.m_sent = static_cast<std::size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

void CurlConnection::prepare_method(const HttpRequest& request) {
  CURL* const easy = m_easy.get();
  if (request.method == HttpMethod::head) m_curl.easy_setopt(easy, CURLOPT_NOBODY, 1L);
  if (request.method != HttpMethod::put) return;
  m_content = request.content;
  m_sent = 0;
  m_curl.easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  m_curl.easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(m_content.size()));
  m_curl.easy_setopt(easy, CURLOPT_READFUNCTION, &CurlConnection::content_callback);
  m_curl.easy_setopt(easy, CURLOPT_READDATA, this);
  m_curl.easy_setopt(easy, CURLOPT_SEEKFUNCTION, &CurlConnection::seek_callback);
  m_curl.easy_setopt(easy, CURLOPT_SEEKDATA, this);
}

void CurlConnection::on_header_line(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    m_head = {};
    const std::size_t space = std::min(line.find(' '), line.size() - 1);
    const std::string_view status = line.substr(space + 1, 3);
    std::from_chars(status.data(), status.data() + status.size(), m_head.status);
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return;
  const std::string name = lower(trim(line.substr(0, colon))), value = trim(line.substr(colon + 1));
  if (std::string* const place = field(m_head, name)) *place = value;
  std::uint64_t length = 0;
  if (name != "content-length") return;
  if (const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), length);
      error == std::errc{} && end == value.data() + value.size())
    m_head.content_length = length;
}

void CurlConnection::prepare(const Url& url, const Route& route, const IndexSettings& settings,
                             const std::vector<std::string>& header_lines) {
  CURL* const easy = m_easy.get();
  m_curl.easy_reset(easy);
  const auto text = [&](CURLoption option, const std::string& value) {
    m_curl.easy_setopt(easy, option, value.c_str());
  };
  const auto number = [&](CURLoption option, long value) { m_curl.easy_setopt(easy, option, value); };
  text(CURLOPT_URL, url.without_user());
  text(CURLOPT_USERAGENT, std::string("sagekit/") + SAGEKIT_VERSION);
  number(CURLOPT_NOSIGNAL, 1);
  number(CURLOPT_FOLLOWLOCATION, 0);
  number(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1);
  number(CURLOPT_BUFFERSIZE, 256 * 1024);
  number(CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, static_cast<long>(settings.timeout_seconds * 1000)));
  // Said even when empty: unsaid, libcurl would ask the environment.
  text(CURLOPT_PROXY, route.proxy);
  text(CURLOPT_NOPROXY, route.no_proxy);
  if (route.has_user) {
    text(CURLOPT_USERNAME, route.user);
    text(CURLOPT_PASSWORD, route.password);
  } else if (!route.netrc.empty()) {
    number(CURLOPT_NETRC, CURL_NETRC_OPTIONAL);
    text(CURLOPT_NETRC_FILE, route.netrc.string());
  }
  const std::filesystem::path certificates =
      settings.ca_bundle.empty() ? certificates_unknown_to(*m_curl.version_info(CURLVERSION_NOW)) : settings.ca_bundle;
  if (!certificates.empty()) {
    // In the place of the system's certificates, as pip does it, not beside them.
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(certificates, ignored);
    const std::string bundle = certificates.string();
    for (const auto option : {CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO})
      m_curl.easy_setopt(easy, option, folder ? nullptr : bundle.c_str());
    for (const auto option : {CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH})
      m_curl.easy_setopt(easy, option, folder ? bundle.c_str() : nullptr);
  }
  if (!settings.client_cert.empty()) text(CURLOPT_SSLCERT, settings.client_cert.string());
  if (!route.verify) {
    number(CURLOPT_SSL_VERIFYPEER, 0);
    number(CURLOPT_SSL_VERIFYHOST, 0);
  }
  m_headers.reset();
  for (const auto& line : header_lines) m_headers.reset(m_curl.slist_append(m_headers.release(), line.c_str()));
  m_curl.easy_setopt(easy, CURLOPT_HTTPHEADER, m_headers.get());
  m_problem.assign(CURL_ERROR_SIZE, '\0');
  m_curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, m_problem.data());
  m_curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, &CurlConnection::header_callback);
  m_curl.easy_setopt(easy, CURLOPT_HEADERDATA, this);
  m_curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, &CurlConnection::body_callback);
  m_curl.easy_setopt(easy, CURLOPT_WRITEDATA, this);
}

Exchange CurlConnection::ask(const Url& url, const Route& route, const IndexSettings& settings,
                             const std::vector<std::string>& header_lines, const HttpRequest& request,
                             AnswerReader& reader, std::stop_token stop) {
  m_reader = &reader;
  m_head = {};
  m_exception = nullptr;
  m_last_sign = Clock::now();
  m_stop = stop;
  prepare(url, route, settings, header_lines);
  prepare_method(request);
  m_curl.multi_add_handle(m_multi.get(), m_easy.get());
  const auto patience =
      std::chrono::milliseconds(std::max<std::int64_t>(1, std::int64_t(settings.timeout_seconds * 1000)));
  Exchange exchange = transfer(patience, std::move(stop));
  m_curl.multi_remove_handle(m_multi.get(), m_easy.get());
  if (m_exception) std::rethrow_exception(m_exception);
  curl_off_t wait = 0;
  if (m_curl.easy_getinfo(m_easy.get(), CURLINFO_RETRY_AFTER, &wait) == CURLE_OK)
    exchange.retry_after_seconds = static_cast<double>(wait);
  return exchange;
}

Exchange CurlConnection::transfer(std::chrono::milliseconds patience, std::stop_token stop) {
  CURLM* const multi = m_multi.get();
  const std::stop_callback wake(stop, [this, multi] { m_curl.multi_wakeup(multi); });
  for (;;) {
    int running = 0;
    if (stop.stop_requested()) return {ExchangeEnd::stopped, "it was stopped"};
    if (m_curl.multi_perform(multi, &running) != CURLM_OK) return {ExchangeEnd::cut, "libcurl gave up"};
    if (running == 0) break;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(m_last_sign + patience - Clock::now());
    if (left.count() <= 0) return judged(CURLE_OPERATION_TIMEDOUT);
    m_curl.multi_poll(multi, nullptr, 0, static_cast<int>(std::clamp<std::int64_t>(left.count(), 1, 1000)), nullptr);
  }
  int waiting = 0;
  const CURLMsg* const message = m_curl.multi_info_read(multi, &waiting);
  if (stop.stop_requested() && message != nullptr && message->data.result != CURLE_OK)
    return {ExchangeEnd::stopped, "it was stopped"};
  return message == nullptr ? Exchange{ExchangeEnd::cut, "libcurl gave up"} : judged(message->data.result);
}

Exchange CurlConnection::judged(CURLcode code) {
  long proxy_status = 0;
  double connected = 0;
  m_curl.easy_getinfo(m_easy.get(), CURLINFO_HTTP_CONNECTCODE, &proxy_status);
  m_curl.easy_getinfo(m_easy.get(), CURLINFO_PRETRANSFER_TIME, &connected);
  // libcurl's own words may quote what it was given.
  std::string words = m_problem.substr(0, m_problem.find('\0'));
  if (words.empty() || words.find_first_of("@?") != words.npos) words = m_curl.easy_strerror(code);
  if (code != CURLE_OK && proxy_status >= 300) {
    const bool wants_user = proxy_status == 401 || proxy_status == 403 || proxy_status == 407;
    const bool passing = proxy_status == 408 || proxy_status == 429 || proxy_status == 500 ||
                         (proxy_status >= 502 && proxy_status <= 504);
    return {wants_user ? ExchangeEnd::proxy_refused
            : passing  ? ExchangeEnd::proxy_busy
                       : ExchangeEnd::no_proxy,
            fmt::format("the proxy answered {}", proxy_status)};
  }
  switch (code) {
    case CURLE_OK: return {};
    case CURLE_WRITE_ERROR: return {ExchangeEnd::refused, words};
    case CURLE_OPERATION_TIMEDOUT:
      if (connected <= 0) return {ExchangeEnd::unreachable, "no connection within the time allowed"};
      return {ExchangeEnd::stalled, "no byte came within the time allowed"};
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return {ExchangeEnd::cut, "the connection was cut"};
    case CURLE_SSL_CONNECT_ERROR: return {ExchangeEnd::no_handshake, words};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_USE_SSL_FAILED: return {ExchangeEnd::untrusted, words};
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_WEIRD_SERVER_REPLY: return {ExchangeEnd::not_http, "what answered speaks no HTTP"};
    default: return {ExchangeEnd::unreachable, words};
  }
}

}  // namespace sagekit
