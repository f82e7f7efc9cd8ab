#include "support/zstd.hpp"

#include <zstd.h>

#include <new>

namespace sagekit {

std::string zstd_frame(std::string_view content, int level) {
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  const auto size = ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), level);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // with this much room nothing else can happen
  frame.resize(size);
  return frame;
}

std::optional<std::uint64_t> zstd_content_size(std::string_view stored) {
  const auto size = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) return std::nullopt;
  if (ZSTD_findFrameCompressedSize(stored.data(), stored.size()) != stored.size()) return std::nullopt;
  // A block of at most 128 KiB takes at least four bytes (RFC 8878, 3.1.1.2): a larger claim is none.
  constexpr std::uint64_t k_most_of_a_byte = 32 * 1024;
  if (size / k_most_of_a_byte > stored.size()) return std::nullopt;
  return size;
}

struct ZstdDecoder::Context {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  Context() {
    if (context == nullptr) throw std::bad_alloc();
  }
  ~Context() { ZSTD_freeDCtx(context); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

ZstdDecoder::ZstdDecoder() : m_context(std::make_unique<Context>()) {}
ZstdDecoder::~ZstdDecoder() = default;

bool ZstdDecoder::whole(std::string_view stored, char* out, std::size_t size) {
  // The whole frame goes straight into the buffer, so its declared window needs no memory of its own.
  // A frame of no stated size is decompressed whole, but not piece by piece: the two must not disagree.
  return zstd_content_size(stored) == size &&
         ZSTD_decompressDCtx(m_context->context, out, size, stored.data(), stored.size()) == size;
}

std::size_t ZstdDecoder::beginning(std::string_view stored, char* out, std::size_t wanted) {
  ZSTD_DCtx* const context = m_context->context;
  ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters);
  ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 23);
  ZSTD_inBuffer in{stored.data(), stored.size(), 0};
  ZSTD_outBuffer made{out, wanted, 0};
  while (made.pos < made.size) {
    const std::size_t before = in.pos + made.pos;
    if (ZSTD_isError(ZSTD_decompressStream(context, &made, &in)) != 0) break;
    if (in.pos + made.pos == before) break;
  }
  ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters);
  return made.pos;
}

std::optional<std::string> zstd_content(std::string_view stored, std::uint64_t most_bytes) {
  const auto size = zstd_content_size(stored);
  if (!size || *size > most_bytes) return std::nullopt;
  std::string content(static_cast<std::size_t>(*size), '\0');
  if (!ZstdDecoder().whole(stored, content.data(), content.size())) return std::nullopt;
  return content;
}

}  // namespace sagekit
