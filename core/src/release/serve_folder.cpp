#include "index/url.hpp"
#include "release/http_rules.hpp"
#include "release/index_pages.hpp"
#include "release/microhttpd_library.hpp"
#include "support/descriptor.hpp"
#include "support/format.hpp"
#include "support/text.hpp"
#include "support/try.hpp"

#include <sagekit/naming.hpp>
#include <sagekit/release_index.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include <condition_variable>
#include <mutex>

namespace sagekit {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_json_type = "application/vnd.pypi.simple.v1+json";

/// One client's request and the answer to it.
class Exchange {
 public:
  Exchange(const MicrohttpdLibrary& http, const ServeOptions& options, MHD_Connection* connection, std::string path)
      : m_http(http), m_options(options), m_connection(connection), m_path(std::move(path)) {}

  MHD_Result answer(std::string_view method) {
    if (method != "GET" && method != "HEAD") return say(MHD_HTTP_METHOD_NOT_ALLOWED, "", {{"Allow", "GET, HEAD"}});
    // A page elsewhere whose name was made to lead here must not read what is served.
    if (!names_loopback(header("Host"))) return say(MHD_HTTP_FORBIDDEN, "this server is for this machine alone\n");
    const auto segments = safe_segments(m_path);
    if (!segments) return say(MHD_HTTP_NOT_FOUND, "not here\n");
    Descriptor file{::open(m_options.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    for (const auto& segment : *segments) {
      // One name at a time and no link: nothing outside the folder can be reached. A pipe must not keep us waiting.
      file = Descriptor{::openat(file.get(), segment.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)};
      if (!file.open()) return missing(*segments);
    }
    struct stat status{};
    if (!file.open() || ::fstat(file.get(), &status) != 0) return say(MHD_HTTP_NOT_FOUND, "not here\n");
    if (S_ISREG(status.st_mode)) return send(std::move(file), status, content_type(m_path), false);
    if (!S_ISDIR(status.st_mode)) return say(MHD_HTTP_NOT_FOUND, "not here\n");
    if (!m_path.ends_with('/')) return redirect(m_path + "/");
    return send_page(file);
  }

 private:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  std::string header(const char* name) const {
    const char* const value = m_http.lookup_connection_value(m_connection, MHD_HEADER_KIND, name);
    return value == nullptr ? std::string() : value;
  }

  static std::string_view content_type(std::string_view path) {
    if (path.ends_with(".html")) return "text/html; charset=utf-8";
    if (path.ends_with("index.json")) return k_json_type;
    if (path.ends_with(".json")) return "application/json";
    if (path.ends_with(".metadata") || path.ends_with("SHA256SUMS")) return "text/plain; charset=utf-8";
    return "application/octet-stream";
  }

  /// PEP 503: a name in another spelling leads to the normal one.
  MHD_Result missing(const std::vector<std::string>& segments) {
    const auto normal = normalized_project(segments.back());
    if (normal == segments.back() || segments.back().find('.') != std::string::npos || segments.size() < 2)
      return say(MHD_HTTP_NOT_FOUND, "not here\n");
    auto path = std::string("/");
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) path += segments[i] + "/";
    return redirect(path + normal + "/");
  }

  /// A folder's page, in the form that the client would rather have.
  MHD_Result send_page(const Descriptor& folder) {
    const bool json = prefers_json(header("Accept"));
    for (const bool as_json : {json, !json}) {
      Descriptor page{::openat(folder.get(), as_json ? "index.json" : "index.html",
                               O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)};
      struct stat status{};
      if (!page.open() || ::fstat(page.get(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
      return send(std::move(page), status, as_json ? k_json_type : "text/html; charset=utf-8", true);
    }
    return say(MHD_HTTP_NOT_FOUND, "not here\n");
  }

  MHD_Result send(Descriptor file, const struct stat& status, std::string_view type, bool negotiated) {
    const auto size = static_cast<std::uint64_t>(status.st_size);
    const auto etag = fmt::format("\"{:x}-{:x}-{:x}\"", status.st_ino, size,
                                  status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec);
    Headers headers{{"ETag", etag}, {"Accept-Ranges", "bytes"}, {"Cache-Control", "no-cache"}};
    if (negotiated) headers.emplace_back("Vary", "Accept");
    if (const auto known = header("If-None-Match"); !known.empty() && lists_etag(known, etag))
      return say(MHD_HTTP_NOT_MODIFIED, "", headers);
    headers.emplace_back("Content-Type", type);
    const auto condition = header("If-Range");
    const bool ranged = condition.empty() || condition == etag;
    const auto range = asked_range(ranged ? header("Range") : std::string(), size);
    if (range.kind == AskedRange::Kind::beyond) {
      headers.emplace_back("Content-Range", fmt::format("bytes */{}", size));
      return say(MHD_HTTP_RANGE_NOT_SATISFIABLE, "", headers);
    }
    if (range.kind == AskedRange::Kind::part)
      headers.emplace_back("Content-Range",
                           fmt::format("bytes {}-{}/{}", range.first, range.first + range.length - 1, size));
    auto* const response = m_http.create_response_from_fd_at_offset64(range.length, file.get(), range.first);
    if (response == nullptr) return MHD_NO;
    file.release();  // the response closes it
    return queue(range.kind == AskedRange::Kind::part ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_OK, response, headers);
  }

  MHD_Result redirect(const std::string& path) {
    return say(MHD_HTTP_MOVED_PERMANENTLY, "", {{"Location", url_path(path)}});
  }

  MHD_Result say(unsigned status, std::string_view text, const Headers& headers = {}) {
    auto* const response = m_http.create_response_from_buffer(
        text.size(), const_cast<char*>(text.data()), MHD_RESPMEM_MUST_COPY);  // the library's signature lacks a const
    return response == nullptr ? MHD_NO : queue(status, response, headers);
  }

  MHD_Result queue(unsigned status, MHD_Response* response, const Headers& headers) {
    for (const auto& [name, value] : headers) m_http.add_response_header(response, name.c_str(), value.c_str());
    const auto queued = m_http.queue_response(m_connection, status, response);
    m_http.destroy_response(response);
    log_line(m_options.log, LogLevel::info, [&] { return fmt::format("{} {} {}", status, m_path, header("Range")); });
    return queued;
  }

  const MicrohttpdLibrary& m_http;
  const ServeOptions& m_options;
  MHD_Connection* m_connection;
  std::string m_path;
};

struct Server {
  const MicrohttpdLibrary& http;
  const ServeOptions& options;
};

MHD_Result on_request(void* data, MHD_Connection* connection, const char* path, const char* method, const char*,
                      const char*, std::size_t* upload_size, void** seen) {
  // The first call has the headers alone; what a client sends along is not wanted, but must be taken in.
  static char first;
  if (*seen == nullptr) {
    *seen = &first;
    return MHD_YES;
  }
  if (*upload_size != 0) {
    *upload_size = 0;
    return MHD_YES;
  }
  const auto& server = *static_cast<const Server*>(data);
  try {
    return Exchange(server.http, server.options, connection, path).answer(method);
  } catch (...) {  // out of memory: this connection ends, the others go on
    return MHD_NO;
  }
}

}  // namespace

Status serve_folder(const ServeOptions& options, const std::function<void(std::uint16_t)>& ready,
                    std::stop_token stop) {
  TRY_ASSIGN(const auto* http, microhttpd_library());
  Server server{*http, options};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const daemon =
      http->start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, options.port, nullptr, nullptr, &on_request, &server,
                         MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_THREAD_POOL_SIZE, 4U, MHD_OPTION_CONNECTION_TIMEOUT,
                         60U, MHD_OPTION_CONNECTION_LIMIT, 256U, MHD_OPTION_END);
  if (daemon == nullptr)
    return fail(ErrorKind::machine, "REL020", fmt::format("cannot listen on 127.0.0.1:{}", options.port),
                "another program has the port: --serve=0 takes a free one");
  const auto* const bound = http->get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  ready(bound == nullptr ? options.port : bound->port);
  std::mutex mutex;
  std::condition_variable_any ended;
  std::unique_lock lock(mutex);
  ended.wait(lock, stop, [] { return false; });
  http->stop_daemon(daemon);
  return {};
}

}  // namespace sagekit
