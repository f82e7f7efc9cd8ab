#pragma once
// The two compressions of fatbin images; the one place that includes LZ4.

#include "support/scratch_memory.hpp"
#include "support/zstd.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace sagekit {

enum class ImageCompression { none, lz4, zstd };

/// An image larger than this when decompressed, or more than `k_max_image_ratio` times its stored size, is refused
/// before anything is allocated. LZ4 cannot pass 255; zstd does on padding only.
inline constexpr std::uint64_t k_max_image_bytes = std::uint64_t{1} << 31;
inline constexpr std::uint64_t k_max_image_ratio = 2048;

/// May an image of `stored` bytes be `size` bytes when decompressed?
bool image_size_is_sane(std::uint64_t stored, std::uint64_t size);

/// Decompresses image after image into one buffer. Not for two threads at once.
class ImageDecoder {
 public:
  ImageDecoder();
  ~ImageDecoder();
  ImageDecoder(const ImageDecoder&) = delete;
  ImageDecoder& operator=(const ImageDecoder&) = delete;

  /// One LZ4 block or one zstd frame that must use all of `stored` and give exactly `size` bytes. Nothing when it does
  /// not, or when `image_size_is_sane` says no. The view is good until the next call; of an image that is not
  /// compressed it is `stored` itself. LZ4 with a match of distance 0, which its format forbids, is liblz4's to take:
  /// such a match gives what the buffer held before.
  std::optional<std::string_view> whole(std::string_view stored, ImageCompression compression, std::uint64_t size);

  /// Its first `wanted` bytes, fewer when it has not so many; what follows is not looked at. A distance of 0 is
  /// refused: here liblz4 would give other bytes than for the whole.
  std::optional<std::string_view> beginning(std::string_view stored, ImageCompression compression, std::uint64_t size,
                                            std::size_t wanted);

 private:
  char* room(std::size_t size);
  ZstdDecoder& zstd();

  std::unique_ptr<ZstdDecoder> m_zstd;
  std::optional<ScratchMemory> m_buffer;
};

}  // namespace sagekit
