#include "gpu/image_codec.hpp"

#include <lz4.h>

#include <algorithm>
#include <climits>
#include <new>

namespace sagekit {

ImageDecoder::ImageDecoder() = default;
ImageDecoder::~ImageDecoder() = default;

ZstdDecoder& ImageDecoder::zstd() {
  if (!m_zstd) m_zstd = std::make_unique<ZstdDecoder>();
  return *m_zstd;
}

/// Images come largest first: a buffer that is far too large by now is given back.
char* ImageDecoder::room(std::size_t size) {
  constexpr std::size_t small = std::size_t{4} << 20;
  if (!m_buffer || (m_buffer->capacity() > small && size < m_buffer->capacity() / 2)) m_buffer.emplace();
  return m_buffer->room(size);
}

namespace {

/// A length that goes on in further bytes while they are 255; nothing when they end.
std::optional<std::size_t> lz4_length(std::string_view stored, std::size_t& at, std::size_t length) {
  if (length != 15) return length;
  for (;;) {
    if (at >= stored.size()) return std::nullopt;
    const auto more = static_cast<std::uint8_t>(stored[at++]);
    length += more;
    if (more != 255) return length;
  }
}

/// Is there a match of distance 0 among the sequences that make the first `wanted` bytes? The format forbids it
/// (lz4_Block_format.md, "Offset"), liblz4 takes it and leaves what memory held before. Other faults are liblz4's to
/// find. To look through a whole block so takes as long as to decompress it.
bool has_zero_distance(std::string_view stored, std::size_t wanted) {
  std::size_t at = 0, made = 0;
  while (made < wanted && at < stored.size()) {
    const auto token = static_cast<std::uint8_t>(stored[at++]);
    const auto literals = lz4_length(stored, at, token >> 4);
    if (!literals || *literals > stored.size() - at) return false;
    at += *literals;
    made += *literals;
    if (made >= wanted || stored.size() - at < 2) return false;
    if (stored[at] == 0 && stored[at + 1] == 0) return true;
    at += 2;
    const auto match = lz4_length(stored, at, token & 15);
    if (!match) return false;
    made += *match + 4;
  }
  return false;
}

}  // namespace

bool image_size_is_sane(std::uint64_t stored, std::uint64_t size) {
  return size <= k_max_image_bytes && stored <= k_max_image_bytes &&
         size <= std::max<std::uint64_t>(stored, 512) * k_max_image_ratio;
}

std::optional<std::string_view> ImageDecoder::whole(std::string_view stored, ImageCompression compression,
                                                    std::uint64_t size) {
  if (!image_size_is_sane(stored.size(), size)) return std::nullopt;
  const auto wanted = static_cast<std::size_t>(size);
  if (compression == ImageCompression::none) return stored.size() == wanted ? std::optional(stored) : std::nullopt;
  char* const out = room(wanted);
  if (compression == ImageCompression::lz4) {
    if (stored.size() > INT_MAX || wanted > INT_MAX) return std::nullopt;
    const int made = LZ4_decompress_safe(stored.data(), out, static_cast<int>(stored.size()), static_cast<int>(wanted));
    if (made < 0 || static_cast<std::size_t>(made) != wanted) return std::nullopt;
  } else if (!zstd().whole(stored, out, wanted)) {
    return std::nullopt;
  }
  return std::string_view(out, wanted);
}

std::optional<std::string_view> ImageDecoder::beginning(std::string_view stored, ImageCompression compression,
                                                        std::uint64_t size, std::size_t wanted) {
  if (!image_size_is_sane(stored.size(), size)) return std::nullopt;
  wanted = std::min(wanted, static_cast<std::size_t>(size));
  if (compression == ImageCompression::none) return stored.substr(0, wanted);
  char* const out = room(wanted);
  if (compression == ImageCompression::lz4) {
    if (stored.size() > INT_MAX || wanted > INT_MAX || has_zero_distance(stored, wanted)) return std::nullopt;
    const int made = LZ4_decompress_safe_partial(stored.data(), out, static_cast<int>(stored.size()),
                                                 static_cast<int>(wanted), static_cast<int>(wanted));
    if (made < 0 || static_cast<std::size_t>(made) != wanted) return std::nullopt;
    return std::string_view(out, wanted);
  }
  if (zstd().beginning(stored, out, wanted) == wanted) return std::string_view(out, wanted);
  // A larger window than that is unusual and right: such a frame is decompressed whole.
  const auto all = whole(stored, compression, size);
  return all ? std::optional(all->substr(0, wanted)) : std::nullopt;
}

}  // namespace sagekit
