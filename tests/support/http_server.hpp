#pragma once
// A web server on 127.0.0.1 for tests, on a port of its own choosing, with every fault that a network can have. Its
// handler is asked for each request, from a thread per connection.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace sagekit::test {

struct HttpQuestion {
  std::string target;                          ///< "/path?query", "http://host/path" when asked as a proxy
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::size_t number = 0;                      ///< of the server's questions so far: 0 is the first

  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

struct HttpReply {
  int status = 200;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<std::uint64_t> announced;  ///< Content-Length; not set = the truth
  std::optional<std::size_t> cut_after;    ///< the connection is closed after so many bytes of the body
  std::optional<std::size_t> stall_after;  ///< nothing more comes after so many bytes of the body
  bool endless = false;                    ///< the body again and again, chunked
  bool hang_up = false;                    ///< closes without an answer
  std::string raw;                         ///< sent instead of everything else
};

inline HttpReply status_reply(int status, const std::string& body = "because") {
  HttpReply reply;
  reply.status = status;
  reply.body = body;
  return reply;
}

/// What a good server says to a question about `content`: the whole, or the part that Range names.
inline HttpReply serve(const HttpQuestion& question, const std::string& content, const std::string& etag = {}) {
  HttpReply reply;
  if (!etag.empty()) reply.headers.emplace_back("ETag", etag);
  std::string range = question.header("range");
  const std::string condition = question.header("if-range");
  if (!condition.empty() && condition != etag) range.clear();
  if (!range.starts_with("bytes=")) {
    reply.body = content;
    return reply;
  }
  const std::size_t dash = range.find('-');
  const std::string from = range.substr(6, dash - 6), to = range.substr(dash + 1);
  const std::size_t size = content.size();
  const std::size_t first = from.empty() ? size - std::min<std::size_t>(std::stoull(to), size) : std::stoull(from);
  const std::size_t last = from.empty() || to.empty() ? size - 1 : std::min<std::size_t>(std::stoull(to), size - 1);
  if (first >= size) {
    reply.status = 416;
    reply.headers.emplace_back("Content-Range", "bytes */" + std::to_string(size));
    return reply;
  }
  reply.status = 206;
  reply.headers.emplace_back(
      "Content-Range", "bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" + std::to_string(size));
  reply.body = content.substr(first, last - first + 1);
  return reply;
}

class HttpServer {
 public:
  using Handler = std::function<HttpReply(const HttpQuestion&)>;

  explicit HttpServer(Handler handler) : m_handler(std::move(handler)) {
    m_listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (m_listener < 0 || ::bind(m_listener, generic, length) != 0 || ::listen(m_listener, 64) != 0 ||
        ::getsockname(m_listener, generic, &length) != 0)
      throw std::runtime_error("no port on 127.0.0.1");
    m_port = ntohs(address.sin_port);
    m_acceptor = std::thread([this] { accept_all(); });
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer() {
    {
      const std::lock_guard lock(m_mutex);
      m_ending = true;
      for (const int open : m_open) ::shutdown(open, SHUT_RDWR);
    }
    m_end.notify_all();
    ::shutdown(m_listener, SHUT_RDWR);
    m_acceptor.join();
    for (auto& thread : m_threads) thread.join();
    ::close(m_listener);
  }

  int port() const { return m_port; }
  std::string host() const { return "127.0.0.1:" + std::to_string(m_port); }
  std::string url(const std::string& path = "/") const { return "http://" + host() + path; }
  std::size_t connections() const { return m_connections; }
  std::vector<HttpQuestion> questions() const {
    const std::lock_guard lock(m_mutex);
    return m_questions;
  }

 private:
  void accept_all() {
    for (;;) {
      const int socket = ::accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC);
      const std::lock_guard lock(m_mutex);
      if (m_ending || socket < 0) {
        if (socket >= 0) ::close(socket);
        return;
      }
      const int at_once = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
      ++m_connections;
      m_open.push_back(socket);
      m_threads.emplace_back([this, socket] {
        while (answer_one(socket)) continue;
        const std::lock_guard closing(m_mutex);
        std::erase(m_open, socket);
        ::close(socket);
      });
    }
  }

  static bool send_all(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  bool read_question(int socket, HttpQuestion& question) {
    std::string text;
    while (!text.ends_with("\r\n\r\n")) {
      char c = 0;
      if (::recv(socket, &c, 1, 0) != 1) return false;
      text += c;
    }
    const std::size_t target = text.find(' ') + 1;
    question.target = text.substr(target, text.find(' ', target) - target);
    for (std::size_t at = text.find("\r\n") + 2; text.compare(at, 2, "\r\n") != 0; at = text.find("\r\n", at) + 2) {
      const std::size_t colon = text.find(": ", at);
      std::string name = text.substr(at, colon - at);
      std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
      question.headers[name] = text.substr(colon + 2, text.find("\r\n", colon) - colon - 2);
    }
    const std::lock_guard lock(m_mutex);
    question.number = m_questions.size();
    m_questions.push_back(question);
    return true;
  }

  bool answer_one(int socket) {
    HttpQuestion question;
    if (!read_question(socket, question)) return false;
    const HttpReply reply = m_handler(question);
    if (reply.hang_up) return false;
    if (!reply.raw.empty()) {
      send_all(socket, reply.raw);
      return false;
    }
    std::string head = "HTTP/1.1 " + std::to_string(reply.status) + " said\r\n";
    for (const auto& [name, value] : reply.headers) head.append(name).append(": ").append(value).append("\r\n");
    if (reply.endless) {
      if (!send_all(socket, head + "Transfer-Encoding: chunked\r\n\r\n")) return false;
      char length[32];
      std::snprintf(length, sizeof length, "%zx\r\n", reply.body.size());
      while (send_all(socket, length + reply.body + "\r\n")) continue;
      return false;
    }
    head += "Content-Length: " + std::to_string(reply.announced.value_or(reply.body.size())) + "\r\n\r\n";
    const std::size_t sent =
        std::min({reply.body.size(), reply.cut_after.value_or(SIZE_MAX), reply.stall_after.value_or(SIZE_MAX)});
    if (!send_all(socket, head) || !send_all(socket, std::string_view(reply.body).substr(0, sent))) return false;
    if (reply.stall_after) {
      std::unique_lock lock(m_mutex);
      m_end.wait(lock, [this] { return m_ending; });
    }
    return !reply.stall_after && !reply.cut_after && (!reply.announced || *reply.announced == sent);
  }

  const Handler m_handler;
  int m_listener = -1, m_port = 0;
  std::atomic<std::size_t> m_connections = 0;
  mutable std::mutex m_mutex;
  std::condition_variable m_end;
  bool m_ending = false;
  std::vector<int> m_open;
  std::vector<HttpQuestion> m_questions;
  std::vector<std::thread> m_threads;
  std::thread m_acceptor;
};

}  // namespace sagekit::test
