#pragma once
// Puts what was asked for together out of one answer, or of several when connections break, and believes none of them:
// each must be the part that was asked for, of the same resource, and no longer than announced.

#include "index/http.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sagekit {

/// The status line and the header fields that matter.
struct AnswerHead {
  int status = 0;
  std::string location, content_type, content_range, content_encoding, etag;
  std::optional<std::uint64_t> content_length;
};

/// "bytes 0-99/1000" (RFC 9110 section 14.4).
struct ContentRange {
  std::uint64_t first = 0, last = 0;
  std::uint64_t total = 0;  ///< 0 = "*", not told
};
/// Nothing when it is another unit, unsatisfied, out of order, or beyond its own total.
std::optional<ContentRange> parse_content_range(std::string_view text);

/// Why an answer is not taken.
struct Refusal {
  std::string code, why;
};

class AnswerReader {
 public:
  /// `request` must outlive the reader.
  explicit AnswerReader(const HttpRequest& request) : m_request(request) {}

  /// Header lines of the next question: the request's own range, or what is still missing.
  std::vector<std::string> begin_attempt();

  /// Both return false when the transfer is to be stopped.
  bool on_head(const AnswerHead& head);
  bool on_body(std::string_view piece);

  const AnswerHead& head() const { return m_head; }  ///< of the last answer; status 0 = none came
  bool success() const { return m_head.status == 200 || m_head.status == 206; }
  const std::optional<Refusal>& refusal() const { return m_refusal; }
  bool whole() const { return m_started && (!m_length || m_delivered == *m_length); }
  std::uint64_t delivered() const { return m_delivered; }
  std::optional<std::uint64_t> length() const { return m_length; }
  HttpResponse take();

 private:
  bool refuse(std::string code, std::string why);
  bool on_whole();
  bool on_part();
  bool start(std::uint64_t offset, std::uint64_t total, std::optional<std::uint64_t> length);

  const HttpRequest& m_request;
  AnswerHead m_head;
  HttpResponse m_response;
  std::optional<std::uint64_t> m_length;  ///< of all that is to come; nothing = to the end of the connection
  std::uint64_t m_delivered = 0, m_skip = 0, m_thrown_away = 0;
  bool m_started = false;
  std::optional<Refusal> m_refusal;
};

}  // namespace sagekit
