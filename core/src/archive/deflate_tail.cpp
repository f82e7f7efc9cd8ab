#include "archive/deflate_tail.hpp"

#define ZLIB_CONST  // input is const
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

namespace sagekit {

namespace {

constexpr std::size_t k_window = 32768, k_buffer = 65536;
// What a search may cost: inflated bytes of starts that turn out wrong, and starts that look right.
constexpr std::uint64_t k_max_wasted = std::uint64_t{256} << 20;
constexpr unsigned k_max_starts = 400'000;

/// Eight bytes from `at`; zeros beyond the end.
std::uint64_t word(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8 && at + i < bytes.size(); ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

/// Does a dynamic block begin `bit` bits into the byte `at`, whose eight bytes are `head`? Not the last block, type 2,
/// 257 to 286 literal codes, 1 to 30 distance codes, and lengths of code length codes that fill the code space exactly
/// (RFC 1951 section 3.2.7).
bool block_may_begin(std::string_view bytes, std::size_t at, std::uint64_t head, unsigned bit) {
  head >>= bit;
  if ((head & 7) != 4 || (head >> 3 & 31) > 29 || (head >> 8 & 31) > 29) return false;
  const unsigned count = static_cast<unsigned>(head >> 13 & 15) + 4;
  // The header has 17 bits; three for each length follow. The 19th lies beyond the word that holds the others.
  const std::uint64_t lengths = word(bytes, at + 2) >> (bit + 1);
  unsigned filled = 0;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t length = (i < 18 ? lengths >> (3 * i) : word(bytes, at + 8) >> (bit + 7)) & 7;
    if (length != 0) filled += 128u >> length;
  }
  return filled == 128;
}

class BlockInflater {
 public:
  BlockInflater() { m_good = inflateInit2(&m_stream, -15) == Z_OK; }
  ~BlockInflater() {
    if (m_good) inflateEnd(&m_stream);
  }
  BlockInflater(const BlockInflater&) = delete;
  BlockInflater& operator=(const BlockInflater&) = delete;

  /// Inflates from a bit on over a window full of `filler`, into `out`, until the stream ends with the input.
  /// False when it does not, or gives more than `max_bytes`. `out` has what came until then.
  bool run(std::string_view bytes, std::size_t at, unsigned bit, char filler, std::uint64_t max_bytes,
           std::string& out) {
    out.clear();
    if (!m_good || inflateReset(&m_stream) != Z_OK) return false;
    if (bit != 0) {
      const int left = static_cast<unsigned char>(bytes[at]) >> bit;
      if (inflatePrime(&m_stream, static_cast<int>(8 - bit), left) != Z_OK) return false;
      ++at;
    }
    std::array<unsigned char, k_window> window;
    window.fill(static_cast<unsigned char>(filler));
    if (inflateSetDictionary(&m_stream, window.data(), k_window) != Z_OK) return false;
    std::string_view rest = bytes.substr(at);
    m_stream.next_in = reinterpret_cast<const unsigned char*>(rest.data());
    m_stream.avail_in = static_cast<unsigned>(rest.size());
    for (;;) {
      m_stream.next_out = m_buffer.data();
      m_stream.avail_out = static_cast<unsigned>(m_buffer.size());
      const int status = inflate(&m_stream, Z_NO_FLUSH);
      const std::size_t made = m_buffer.size() - m_stream.avail_out;
      out.append(reinterpret_cast<const char*>(m_buffer.data()), made);
      if (out.size() > max_bytes) return false;
      if (status == Z_STREAM_END) return m_stream.avail_in == 0;
      if (status != Z_OK || made == 0) return false;
    }
  }

 private:
  z_stream m_stream{};
  bool m_good = false;
  std::array<unsigned char, k_buffer> m_buffer;
};

}  // namespace

struct PrefixInflater::Stream {
  z_stream state{};
  bool good = false;
};

PrefixInflater::PrefixInflater() : m_stream(std::make_unique<Stream>()) {
  m_stream->good = inflateInit2(&m_stream->state, -15) == Z_OK;
}

PrefixInflater::~PrefixInflater() {
  if (m_stream) inflateEnd(&m_stream->state);
}

PrefixInflater::PrefixInflater(PrefixInflater&&) noexcept = default;

bool PrefixInflater::feed(std::string_view compressed, std::uint64_t wanted) {
  m_pending += compressed;
  z_stream& state = m_stream->state;
  state.next_in = reinterpret_cast<const unsigned char*>(m_pending.data());
  state.avail_in = static_cast<unsigned>(std::min<std::size_t>(m_pending.size(), std::numeric_limits<unsigned>::max()));
  std::array<unsigned char, k_buffer> buffer;
  while (m_stream->good && m_content.size() < wanted) {
    state.next_out = buffer.data();
    state.avail_out = static_cast<unsigned>(std::min<std::uint64_t>(buffer.size(), wanted - m_content.size()));
    const std::size_t room = state.avail_out;
    const int status = inflate(&state, Z_NO_FLUSH);
    const std::size_t made = room - state.avail_out;
    m_content.append(reinterpret_cast<const char*>(buffer.data()), made);
    if (status == Z_BUF_ERROR || (status == Z_OK && made == 0)) break;  // more input is needed
    if (status == Z_STREAM_END) m_stream->good = m_content.size() >= wanted;
    if (status != Z_OK && status != Z_STREAM_END) m_stream->good = false;
    if (status != Z_OK) break;
  }
  m_pending.erase(0, m_pending.size() - state.avail_in);
  return m_stream->good;
}

std::optional<InflatedTail> InflatedTail::read(std::string_view compressed_end, std::uint64_t max_bytes) {
  if (compressed_end.size() > std::numeric_limits<unsigned>::max()) return std::nullopt;
  const auto inflater = std::make_unique<BlockInflater>();
  std::string one;
  std::string other;
  std::uint64_t wasted = 0;
  unsigned starts = 0;
  for (std::size_t at = 0; at < compressed_end.size(); ++at) {
    const std::uint64_t head = word(compressed_end, at);
    for (unsigned bit = 0; bit < 8; ++bit) {
      if (!block_may_begin(compressed_end, at, head, bit)) continue;
      if (++starts > k_max_starts) return std::nullopt;
      if (inflater->run(compressed_end, at, bit, '\1', max_bytes, one)) {
        if (!inflater->run(compressed_end, at, bit, '\2', max_bytes, other)) return std::nullopt;
        return InflatedTail(std::move(one), std::move(other));
      }
      wasted += one.size();
      if (wasted > k_max_wasted) return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> InflatedTail::known(std::uint64_t offset, std::uint64_t length) const {
  const auto one = Bytes(m_one).slice(offset, length);
  const auto other = Bytes(m_other).slice(offset, length);
  if (!one || !other || one->view() != other->view()) return std::nullopt;
  return one->view();
}

}  // namespace sagekit
