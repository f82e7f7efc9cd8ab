#pragma once
// Parts of a raw DEFLATE stream (RFC 1951): its beginning, and its end without what stands before. Through
// zlib, which can begin at any bit and with any window.

#include "support/bytes.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sagekit {

/// Inflates a stream that comes in pieces, as far as it is wanted.
class PrefixInflater {
 public:
  PrefixInflater();
  ~PrefixInflater();
  PrefixInflater(PrefixInflater&&) noexcept;
  PrefixInflater& operator=(PrefixInflater&&) = delete;

  /// The next bytes of the stream; output stops at `wanted` bytes in all, and the rest of the input is kept for later.
  /// False when the stream is damaged, or ends before.
  bool feed(std::string_view compressed, std::uint64_t wanted);
  /// The first bytes of the content.
  const std::string& content() const { return m_content; }

 private:
  struct Stream;
  std::unique_ptr<Stream> m_stream;
  std::string m_pending, m_content;
};

/// The content's last bytes, out of the stream's last bytes. Copies that reach before the place where inflating began
/// give unknown bytes: the stream is inflated over two different windows, and what differs is unknown.
class InflatedTail {
 public:
  /// Looks for the first dynamic block (at any bit) from which inflating runs exactly to the stream's end. Nothing when
  /// there is none, when the content is larger than `max_bytes`, or when looking takes too long (hostile data).
  static std::optional<InflatedTail> read(std::string_view compressed_end, std::uint64_t max_bytes);

  std::uint64_t size() const { return m_one.size(); }
  /// Bytes that are sure; nothing when one of them lies outside or is unknown. `offset` counts from the first byte that
  /// is at hand, which is `size()` before the content's end.
  std::optional<std::string_view> known(std::uint64_t offset, std::uint64_t length) const;

 private:
  InflatedTail(std::string one, std::string other) : m_one(std::move(one)), m_other(std::move(other)) {}
  std::string m_one, m_other;
};

}  // namespace sagekit
