#include "inspect/image_codec.hpp"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <climits>

namespace sagekit {

namespace {

bool decompress_lz4(std::string_view stored, std::string& image) {
  if (stored.size() > INT_MAX || image.size() > INT_MAX) return false;
  const int made =
      LZ4_decompress_safe(stored.data(), image.data(), static_cast<int>(stored.size()), static_cast<int>(image.size()));
  return made >= 0 && static_cast<std::size_t>(made) == image.size();
}

// The whole frame goes straight into `image`, so its declared window needs no memory of its own.
bool decompress_zstd(std::string_view stored, std::string& image) {
  if (ZSTD_findFrameCompressedSize(stored.data(), stored.size()) != stored.size()) return false;
  const std::size_t made = ZSTD_decompress(image.data(), image.size(), stored.data(), stored.size());
  return ZSTD_isError(made) == 0 && made == image.size();
}

}  // namespace

bool image_size_is_sane(std::uint64_t stored, std::uint64_t size) {
  return size <= k_max_image_bytes && stored <= k_max_image_bytes &&
         size <= std::max<std::uint64_t>(stored, 512) * k_max_image_ratio;
}

std::optional<std::string> decompress_image(std::string_view stored, ImageCompression compression, std::uint64_t size) {
  if (!image_size_is_sane(stored.size(), size)) return std::nullopt;
  if (compression == ImageCompression::none) {
    if (stored.size() != size) return std::nullopt;
    return std::string(stored);
  }
  std::string image(static_cast<std::size_t>(size), '\0');
  const bool good =
      compression == ImageCompression::lz4 ? decompress_lz4(stored, image) : decompress_zstd(stored, image);
  if (!good) return std::nullopt;
  return image;
}

}  // namespace sagekit
