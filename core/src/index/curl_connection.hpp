#pragma once
// One question to one server and its answer, over libcurl. No redirects, no retries: those are the client's.

#include "index/answer_reader.hpp"
#include "index/curl_library.hpp"
#include "index/route.hpp"

#include <chrono>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace sagekit {

enum class ExchangeEnd {
  done,
  refused,        ///< the reader wanted no more
  stopped,        ///< by the stop token
  unreachable,    ///< no name, no connection, no proxy
  no_handshake,   ///< TLS did not come about: cut, or no version in common
  untrusted,      ///< TLS: certificates, keys
  proxy_refused,  ///< it wants other credentials
  proxy_busy,     ///< it cannot reach the server now
  no_proxy,       ///< what was taken for one opens no tunnels
  stalled,
  cut,
  not_http,
};

struct Exchange {
  ExchangeEnd end = ExchangeEnd::done;
  std::string why;                 ///< in words; holds no address
  double retry_after_seconds = 0;  ///< what the server asks for; 0 = nothing
};

/// A handle and the connections it keeps open. For one thread at a time.
class CurlConnection {
 public:
  explicit CurlConnection(const CurlLibrary& curl);

  bool usable() const { return m_easy != nullptr && m_multi != nullptr; }
  Exchange ask(const Url& url, const Route& route, const IndexSettings& settings,
               const std::vector<std::string>& header_lines, const HttpRequest& request, AnswerReader& reader,
               std::stop_token stop);

 private:
  struct Close {
    const CurlLibrary* curl = nullptr;
    void operator()(CURL* easy) const { curl->easy_cleanup(easy); }
  };
  struct CloseMulti {
    const CurlLibrary* curl = nullptr;
    void operator()(CURLM* multi) const { curl->multi_cleanup(multi); }
  };
  struct FreeList {
    const CurlLibrary* curl = nullptr;
    void operator()(curl_slist* list) const { curl->slist_free_all(list); }
  };
  using Clock = std::chrono::steady_clock;

  void prepare(const Url& url, const Route& route, const IndexSettings& settings,
               const std::vector<std::string>& header_lines);
  void prepare_method(const HttpRequest& request);
  Exchange transfer(std::chrono::milliseconds patience, std::stop_token stop);
  Exchange judged(CURLcode code);
  void on_header_line(std::string_view line);
  static std::size_t header_callback(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t body_callback(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t content_callback(char* data, std::size_t size, std::size_t count, void* self);
  static int seek_callback(void* self, curl_off_t offset, int origin);
  template <class Action>
  std::size_t guarded(std::size_t bytes, Action action);

  const CurlLibrary& m_curl;
  std::unique_ptr<CURLM, CloseMulti> m_multi;
  std::unique_ptr<CURL, Close> m_easy;
  std::unique_ptr<curl_slist, FreeList> m_headers;
  std::string m_problem;  ///< libcurl's own words
  AnswerReader* m_reader = nullptr;
  std::string_view m_content;  ///< of a put
  std::size_t m_sent = 0;
  AnswerHead m_head;
  std::stop_token m_stop;
  Clock::time_point m_last_sign;   ///< of life
  std::exception_ptr m_exception;  ///< none may cross libcurl's frames
};

}  // namespace sagekit
