#include "index/answer_reader.hpp"

#include "support/format.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <charconv>

namespace sagekit {

namespace {

// The text beside an error status is of no use; a little is read so that the connection can be used again.
constexpr std::uint64_t k_thrown_away = 64 * 1024;

bool read_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

bool strong(const std::string& etag) { return etag.starts_with('"'); }

}  // namespace

std::optional<ContentRange> parse_content_range(std::string_view text) {
  if (lower(text.substr(0, 6)) != "bytes ") return std::nullopt;
  const std::string rest = trim(text.substr(6));
  const std::string_view view = rest;
  const std::size_t dash = view.find('-'), slash = view.find('/');
  if (slash == view.npos || dash >= slash) return std::nullopt;
  ContentRange range;
  const std::string_view total = view.substr(slash + 1);
  if (!read_number(view.substr(0, dash), range.first) ||
      !read_number(view.substr(dash + 1, slash - dash - 1), range.last) || range.last < range.first)
    return std::nullopt;
  if (total == "*") return range;
  if (!read_number(total, range.total) || range.last >= range.total) return std::nullopt;
  return range;
}

std::vector<std::string> AnswerReader::begin_attempt() {
  // A page has no parts that one could count on, so it is read anew; so is what never began.
  if (m_delivered == 0 || (!m_request.sink && m_response.status != 206)) {
    m_started = false;
    m_delivered = 0;
    m_response = {};
    m_length.reset();
  }
  m_head = {};
  m_skip = 0;
  m_thrown_away = 0;
  if (!m_started) {
    if (m_request.range)
      return {fmt::format("Range: bytes={}-{}", m_request.range->offset,
                          m_request.range->offset + m_request.range->length - 1)};
    if (m_request.suffix > 0) return {fmt::format("Range: bytes=-{}", m_request.suffix)};
    return {};
  }
  const std::string last = m_length ? std::to_string(m_response.offset + *m_length - 1) : "";
  std::vector<std::string> lines{fmt::format("Range: bytes={}-{}", m_response.offset + m_delivered, last)};
  if (strong(m_response.etag)) lines.push_back("If-Range: " + m_response.etag);
  return lines;
}

bool AnswerReader::refuse(std::string code, std::string why) {
  m_refusal = Refusal{std::move(code), std::move(why)};
  return false;
}

bool AnswerReader::start(std::uint64_t offset, std::uint64_t total, std::optional<std::uint64_t> length) {
  m_started = true;
  m_length = length;
  m_response.status = m_head.status;
  m_response.content_type = lower(trim(m_head.content_type.substr(0, m_head.content_type.find(';'))));
  m_response.offset = offset;
  m_response.total = total;
  m_response.etag = m_head.etag;
  if (m_request.on_answer && !m_request.on_answer(m_response)) return refuse("IDX008", "it is not what was wanted");
  if (length && *length > m_request.max_bytes)
    return refuse("IDX009", fmt::format("the answer has {} bytes, at most {} are taken", *length, m_request.max_bytes));
  return true;
}

bool AnswerReader::on_head(const AnswerHead& head) {
  m_head = head;
  if (!success()) return true;
  const std::string encoding = lower(trim(head.content_encoding));
  if (!encoding.empty() && encoding != "identity")
    return refuse("IDX008", "the answer is compressed (" + encoding.substr(0, 20) + "), which was not asked for");
  const bool other = m_started && !m_response.etag.empty() && !head.etag.empty() && m_response.etag != head.etag;
  if (other) return refuse("IDX008", "it changed on the server while it was read");
  return head.status == 200 ? on_whole() : on_part();
}

bool AnswerReader::on_whole() {
  if (!m_started) return start(0, m_head.content_length.value_or(0), m_head.content_length);
  // A server without ranges: what is already there is passed over.
  if (m_response.status != 200 || (m_length && m_head.content_length && m_length != m_head.content_length))
    return refuse("IDX008", "it changed on the server while it was read");
  m_skip = m_delivered;
  return true;
}

bool AnswerReader::on_part() {
  const auto range = parse_content_range(m_head.content_range);
  if (!range && m_head.content_range.empty())
    return refuse("IDX008", "the server sent a part without saying which (Content-Range)");
  if (!range)
    return refuse("IDX008", fmt::format("the server sent a part and called it \"{}\", which is no part of a file "
                                        "(Content-Range)",
                                        m_head.content_range.substr(0, 60)));
  const std::uint64_t length = range->last - range->first + 1;
  std::uint64_t first = 0, last = 0;
  if (m_started) {
    first = m_response.offset + m_delivered;
    last = m_length ? m_response.offset + *m_length - 1 : range->total - 1;
    if (m_response.total != 0 && range->total != m_response.total)
      return refuse("IDX008", "it changed on the server while it was read");
  } else if (m_request.range) {
    first = m_request.range->offset;
    last = first + m_request.range->length - 1;
  } else if (m_request.suffix > 0 && range->total > 0) {
    first = range->total - std::min(m_request.suffix, range->total);
    last = range->total - 1;
  } else {
    return refuse("IDX008", "the server sent a part that was not asked for");
  }
  if (range->first != first || range->last != last)
    return refuse("IDX008", fmt::format("the server sent bytes {}-{} where {}-{} were asked for", range->first,
                                        range->last, first, last));
  if (m_head.content_length && *m_head.content_length != length)
    return refuse("IDX008",
                  fmt::format("the server announced {} bytes as a part of {}", *m_head.content_length, length));
  return m_started || start(first, range->total, length);
}

bool AnswerReader::on_body(std::string_view piece) {
  if (!success()) {
    m_thrown_away += piece.size();
    return m_thrown_away <= k_thrown_away;
  }
  const std::uint64_t passed = std::min<std::uint64_t>(m_skip, piece.size());
  m_skip -= passed;
  piece.remove_prefix(static_cast<std::size_t>(passed));
  if (m_length && piece.size() > *m_length - m_delivered)
    return refuse("IDX008", fmt::format("the server sent more than the {} bytes it announced", *m_length));
  if (piece.size() > m_request.max_bytes - m_delivered)
    return refuse("IDX009", fmt::format("the answer has no end: at most {} bytes are taken", m_request.max_bytes));
  m_delivered += piece.size();
  if (!m_request.sink) {
    m_response.body += piece;
  } else if (!piece.empty() && !m_request.sink(piece)) {
    return refuse("IDX008", "what takes the bytes refused them");
  }
  return true;
}

HttpResponse AnswerReader::take() {
  if (m_response.status == 200) m_response.total = m_delivered;
  return std::move(m_response);
}

}  // namespace sagekit
