#include "archive/gunzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace sagekit {

struct Gunzip::Stream {
  z_stream state{};
  bool open = false;
};

namespace {

constexpr int k_gzip_window = 15 + 16;  // zlib.h: 16 is added for a gzip frame

}  // namespace

Gunzip::Gunzip() : m_stream(std::make_unique<Stream>()) {
  m_stream->open = inflateInit2(&m_stream->state, k_gzip_window) == Z_OK;
  m_damaged = !m_stream->open;
}

Gunzip::~Gunzip() {
  if (m_stream && m_stream->open) inflateEnd(&m_stream->state);
}

Gunzip::Gunzip(Gunzip&&) noexcept = default;

std::size_t Gunzip::feed(std::string_view bytes, std::string& content, std::size_t room) {
  if (m_damaged) return bytes.size();
  auto& state = m_stream->state;
  const std::size_t before = content.size();
  const std::size_t limit = std::numeric_limits<uInt>::max();
  bytes = bytes.substr(0, limit);
  content.resize(before + std::min(room, limit));
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = reinterpret_cast<Bytef*>(content.data() + before);
  state.avail_out = static_cast<uInt>(content.size() - before);
  while (state.avail_in > 0 && state.avail_out > 0 && !m_damaged) {
    const int result = inflate(&state, Z_NO_FLUSH);
    if (result == Z_STREAM_END)
      m_damaged = inflateReset(&state) != Z_OK;  // the next member, or nothing
    else
      m_damaged = result != Z_OK;
  }
  const std::size_t taken = m_damaged ? bytes.size() : bytes.size() - state.avail_in;
  content.resize(content.size() - state.avail_out);
  return taken;
}

}  // namespace sagekit
